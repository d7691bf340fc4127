// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/GdcmProgram.h"

#include "Dicom/CodestreamHeader.h"
#include "Dicom/ElementWriter.h"
#include "Dicom/FrameFragments.h"
#include "Transcoding/EncapsulatedFrames.h"
#include "Tuning/WritableSyntax.h"

namespace OrthancPerf
{
  namespace
  {
    const std::vector<std::string> LOSSLESS = {JPEG_LOSSLESS, JPEG_LOSSLESS_SV1, JPEG_LS_LOSSLESS,
                                               JPEG_2000_LOSSLESS, RLE_LOSSLESS};

    ImageFile MakeImage(unsigned int allocated, unsigned int stored, bool isSigned)
    {
      ImageFile image;
      image.rows = 37;
      image.columns = 41;
      image.bitsAllocated = allocated;
      image.bitsStored = stored;
      image.isSigned = isSigned;
      FillWithGradient(image);
      return image;
    }

    ImageFile MakeColors(const std::string& photometric, unsigned int planar)
    {
      ImageFile image = MakeImage(8, 8, false);
      image.samples = 3;
      image.photometric = photometric;
      image.planarConfiguration = planar;
      image.FillWithNoise(5);
      return image;
    }

    std::string GetDataSet(const std::string& file)
    {
      const DataSetEditor editor(file.data(), file.size());
      std::string dataSet;

      for (const DataSetEditor::Element& element : editor.GetElements())
      {
        dataSet.append(element.bytes);
      }

      return dataSet;
    }

    std::string Interleave(const std::string& planes)
    {
      std::string pixels;

      for (std::size_t i = 0; i < planes.size(); i++)
      {
        pixels.push_back(planes[i % 3 * planes.size() / 3 + i / 3]);
      }

      return pixels;
    }
  }


  using GdcmEngine = GdcmProgram;

  TEST_F(GdcmEngine, WritesAllSyntaxesThatThePluginKnows)
  {
    for (const WritableSyntax& syntax : GetWritableSyntaxes())
    {
      EXPECT_NE(Try(MakeImage(8, 8, false).Make(), syntax.uid).outcome,
                TranscodingOutcome::Declined)
          << syntax.name;
    }
  }


  TEST_F(GdcmEngine, LosslessSyntaxesKeepEveryBit)
  {
    for (const std::string& target : LOSSLESS)
    {
      for (unsigned int stored = 1; stored <= 16; stored++)
      {
        for (const bool isSigned : {false, true})
        {
          const ImageFile image = MakeImage(stored <= 8 ? 8 : 16, stored, isSigned);
          const std::string file = image.Make();
          EXPECT_EQ(GetPixels(Repeat(file, target)), image.pixels) << target << " " << stored;
        }
      }
    }
  }


  TEST_F(GdcmEngine, NoiseComesBackFromLosslessSyntaxes)
  {
    for (const std::string& target : LOSSLESS)
    {
      for (const unsigned int stored : {2U, 8U, 12U, 16U})
      {
        ImageFile image = MakeImage(stored <= 8 ? 8 : 16, stored, false);
        image.FillWithNoise(3);
        EXPECT_EQ(GetPixels(Repeat(image.Make(), target)), image.pixels) << target << " " << stored;
      }
    }
  }


  TEST_F(GdcmEngine, FewBitsInSixteenComeBack)
  {
    for (const std::string& target : LOSSLESS)
    {
      const ImageFile image = MakeImage(16, 8, false);
      EXPECT_EQ(GetPixels(Repeat(image.Make(), target)), image.pixels) << target;
    }
  }


  TEST_F(GdcmEngine, NoJpegLsHasFewerThanEightBits)
  {
    for (const std::string target : {JPEG_LS_LOSSLESS, JPEG_LS_LOSSY})
    {
      for (unsigned int stored = 4; stored < 8; stored++)
      {
        ImageFile image = MakeImage(8, stored, false);
        std::replace_if(
            image.pixels.begin(), image.pixels.end(), [](char sample) { return sample < 2; }, '\2');
        const auto highest = static_cast<char>((1 << stored) - 3);
        std::replace_if(
            image.pixels.begin(), image.pixels.end(),
            [highest](char sample) { return sample > highest; }, highest);
        const EngineResult result = Try(image.Make(), target, 95);

        if (result.outcome == TranscodingOutcome::Transcoded)
        {
          const FrameFragments frame =
              FindFrames(Describe(result.file).encapsulatedPixels, target, 1).front();
          EXPECT_GE(ReadCodestreamHeader(CodestreamKind::JpegLs, frame.front()).precision, 8U)
              << target << " " << stored;
        }
        else
        {
          EXPECT_EQ(result.outcome, TranscodingOutcome::Declined) << result.reason;
          EXPECT_NE(target, JPEG_LS_LOSSLESS);
        }
      }
    }
  }


  TEST_F(GdcmEngine, BitsAboveTheHighBitComeBack)
  {
    for (const std::string& target : LOSSLESS)
    {
      for (const bool isSigned : {false, true})
      {
        ImageFile image = MakeImage(16, 16, isSigned);
        image.FillWithNoise(7);
        image.bitsStored = 12;
        EXPECT_EQ(GetPixels(Repeat(image.Make(), target)), image.pixels) << target;

        const std::string shifted = Set(image.Make(), 0x00280102, 14);
        EXPECT_EQ(GetPixels(Repeat(shifted, target)), image.pixels) << target;
      }
    }
  }


  TEST_F(GdcmEngine, ColorsComeBackUnconverted)
  {
    for (const std::string& target : LOSSLESS)
    {
      for (const std::string photometric : {"RGB", "YBR_FULL"})
      {
        for (const unsigned int planar : {0U, 1U})
        {
          const ImageFile image = MakeColors(photometric, planar);
          const std::string file = Repeat(image.Make(), target);
          EXPECT_EQ(GetPixels(file), planar == 0 ? image.pixels : Interleave(image.pixels));
          EXPECT_EQ(Describe(file).photometricInterpretation, photometric) << target;
          EXPECT_EQ(Describe(file).planarConfiguration, 0) << target;
        }
      }
    }
  }


  TEST_F(GdcmEngine, Jpeg2000SaysThatItTransformsColors)
  {
    const std::string rgb = Transcode(MakeColors("RGB", 0).Make(), JPEG_2000_LOSSLESS);
    EXPECT_EQ(Describe(rgb).photometricInterpretation, "YBR_RCT");

    const std::string ybr = Transcode(MakeColors("YBR_FULL", 0).Make(), JPEG_2000_LOSSLESS);
    EXPECT_EQ(Describe(ybr).photometricInterpretation, "YBR_FULL");
  }


  TEST_F(GdcmEngine, SubsampledColorsAreGivenToBothPixels)
  {
    ImageFile image = MakeColors("YBR_FULL_422", 0);
    image.columns = 2;
    image.rows = 40;
    image.pixels.resize(160);
    const std::string file = Repeat(image.Make(), JPEG_LOSSLESS_SV1);

    const std::string& source = image.pixels;
    const std::string expected = {source[0], source[2], source[3], source[1], source[2], source[3]};
    EXPECT_EQ(GetPixels(file).substr(0, 6), expected);
    EXPECT_EQ(Describe(file).photometricInterpretation, "YBR_FULL");
  }


  TEST_F(GdcmEngine, SixteenBitColorsComeBackFromRle)
  {
    ImageFile image = MakeColors("RGB", 0);
    image.bitsAllocated = image.bitsStored = 16;
    image.FillWithNoise(9);
    const std::string file = Repeat(image.Make(), RLE_LOSSLESS);
    EXPECT_EQ(GetPixels(file), image.pixels);
    EXPECT_EQ(Describe(file).planarConfiguration, 0);
  }


  TEST_F(GdcmEngine, OddSizesComeBack)
  {
    for (const std::string& target : LOSSLESS)
    {
      for (const unsigned int rows : {31U, 64U})
      {
        ImageFile image = MakeImage(8, 8, false);
        image.rows = rows;
        image.columns = 33;
        image.frames = "3";
        FillWithGradient(image, 3);
        EXPECT_EQ(GetPixels(Repeat(image.Make(), target)), image.pixels) << target;
      }
    }
  }


  TEST_F(GdcmEngine, OnePixelComesBackFromJpegAndRle)
  {
    for (const std::string target : {JPEG_LOSSLESS, JPEG_LOSSLESS_SV1, RLE_LOSSLESS})
    {
      ImageFile image = MakeImage(8, 8, false);
      image.rows = image.columns = 1;
      image.pixels = "x";
      EXPECT_EQ(GetPixels(Repeat(image.Make(), target)), "x") << target;
    }
  }


  TEST_F(GdcmEngine, TheLargestSidesComeBack)
  {
    for (const std::string target : {JPEG_LOSSLESS, JPEG_LOSSLESS_SV1, JPEG_LS_LOSSLESS})
    {
      ImageFile image = MakeImage(8, 8, false);
      image.rows = 65500;
      image.columns = 1;
      FillWithGradient(image);
      EXPECT_TRUE(GetPixels(Repeat(image.Make(), target)) == image.pixels) << target;
      EXPECT_FALSE(Repeat(image.Make(), JPEG_BASELINE).empty());
    }
  }


  TEST_F(GdcmEngine, EachFrameHasAFragmentAndAnOffset)
  {
    ImageFile image = MakeImage(16, 12, false);
    image.frames = "3";
    FillWithGradient(image, 3);

    for (const std::string& target : LOSSLESS)
    {
      const EncapsulatedFrames frames(Transcode(image.Make(), target));
      ASSERT_EQ(frames.fragments.size(), 3) << target;
      ASSERT_EQ(frames.offsetTable.size(), 12) << target;

      std::string expected;
      for (const std::size_t offset : frames.offsets)
      {
        AppendInteger(expected, offset, 4);
      }
      EXPECT_EQ(frames.offsetTable, expected) << target;
    }

    const EncapsulatedFrames single(Transcode(MakeImage(16, 12, false).Make(), JPEG_LOSSLESS));
    EXPECT_EQ(single.offsetTable, "");
  }


  TEST_F(GdcmEngine, UncompressedSyntaxesComeBackAsTheSameDataSet)
  {
    const std::string file = MakeImage(16, 12, true).Make();
    const IsolatedEngine dcmtk("dcmtk", BuildPaths::GetDcmtkProgram(), 1);

    for (const std::string target : {IMPLICIT_VR, DEFLATED})
    {
      const std::string transcoded = Transcode(file, target);
      EXPECT_NE(transcoded, file);
      const std::string repeated =
          dcmtk.Transcode(transcoded.data(), transcoded.size(), {EXPLICIT_VR}).file;

      // Private elements lose their VR in implicit VR
      EXPECT_EQ(GetPixels(repeated), GetPixels(file)) << target;
      EXPECT_EQ(GetDataSet(repeated) == GetDataSet(file), target == std::string(DEFLATED));
    }
  }


  TEST_F(GdcmEngine, ASyntaxBecomesItselfUntouched)
  {
    const std::string file = Transcode(MakeImage(16, 12, true).Make(), JPEG_LS_LOSSLESS);
    EXPECT_EQ(Transcode(file, JPEG_LS_LOSSLESS), file);
  }


  TEST_F(GdcmEngine, ObjectsWithoutPixelsAreWrittenUncompressedOnly)
  {
    const std::string file =
        DicomFileBuilder::FileMeta(EXPLICIT_VR) + DicomFileBuilder().Identifiers().GetBytes();

    for (const WritableSyntax& syntax : GetWritableSyntaxes())
    {
      const EngineResult result = Try(file, syntax.uid);
      EXPECT_EQ(result.outcome, IsEncapsulated(syntax.uid) ? TranscodingOutcome::Declined
                                                           : TranscodingOutcome::Transcoded)
          << syntax.name;
    }
  }


  TEST_F(GdcmEngine, DeclinesWhatItDoesNotRead)
  {
    for (const std::string syntax :
         {"1.2.840.10008.1.2.4.100", "1.2.3.4", "1.2.840.10008.1.2.4.94"})
    {
      std::string file = Transcode(MakeImage(16, 12, true).Make(), JPEG_LOSSLESS);
      DataSetEditor editor(file.data(), file.size());
      editor.Set(0x00020010, "UI", syntax);
      EXPECT_EQ(Try(editor.Write(), JPEG_2000).outcome, TranscodingOutcome::Declined) << syntax;
    }
  }
}
