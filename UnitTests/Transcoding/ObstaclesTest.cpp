// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Obstacles.h"

#include "Transcoding/Engines/SampleImage.h"
#include "Transcoding/FakeEngine.h"
#include "Transcoding/ImageFile.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* JPEG_EXTENDED = TransferSyntaxUid::JPEG_EXTENDED;
    constexpr const char* JPEG_2000_LOSSLESS = TransferSyntaxUid::JPEG_2000_LOSSLESS;

    ImageDescription Describe(const std::string& syntax, const char* photometric, int allocated = 8,
                              int stored = 8)
    {
      ImageDescription image;
      image.transferSyntax = syntax;
      image.kind = IsEncapsulated(syntax) ? PixelDataKind::Encapsulated : PixelDataKind::Native;
      image.photometricInterpretation = photometric;
      image.samplesPerPixel = image.photometricInterpretation.substr(0, 4) == "MONO" ? 1 : 3;
      image.bitsAllocated = static_cast<std::uint16_t>(allocated);
      image.bitsStored = static_cast<std::uint16_t>(stored);
      image.highBit = static_cast<std::uint16_t>(stored - 1);
      return image;
    }

    ImageDescription Describe(const std::string& file)
    {
      return DescribeImage(file.data(), file.size());
    }

    ImageFile MakeFile(unsigned int allocated, unsigned int stored, bool isSigned = false)
    {
      ImageFile image;
      image.rows = image.columns = 32;
      image.bitsAllocated = allocated;
      image.bitsStored = stored;
      image.isSigned = isSigned;
      return image;
    }

    // With pixels of the right number
    std::string Find(ImageFile image, const std::string& target, const char* engine = nullptr)
    {
      if (image.pixels.empty())
      {
        const std::size_t frames = image.frames.empty() ? 1 : std::stoul(image.frames);
        image.pixels.resize(frames * image.GetFrameSize());
      }

      const std::string file = image.Make();
      return engine == nullptr ? FindObstacle(Describe(file), target)
                               : FindObstacleOfEngine(Describe(file), target, engine);
    }

    bool IsLost(const ImageDescription& received, const std::string& target)
    {
      return !FindLossOfPicture(received, target).empty();
    }
  }


  TEST(Obstacles, WhatIsShownInEveryTransferSyntaxIsNotLost)
  {
    for (const std::string target :
         {EXPLICIT_LITTLE_ENDIAN, DEFLATED, JPEG_BASELINE, JPEG_LOSSLESS, JPEG_LS, RLE})
    {
      EXPECT_FALSE(IsLost(Describe(EXPLICIT_LITTLE_ENDIAN, "RGB"), target));
      EXPECT_FALSE(IsLost(Describe(JPEG_LS, "RGB"), target));
      EXPECT_FALSE(IsLost(Describe(EXPLICIT_LITTLE_ENDIAN, "MONOCHROME2", 16, 12), target));
    }
  }


  TEST(Obstacles, ColoursThatOrthancShowsOfLossyJpegOnlyAreLost)
  {
    const ImageDescription received = Describe(JPEG_BASELINE, "YBR_FULL_422");

    for (const std::string target : {EXPLICIT_LITTLE_ENDIAN, JPEG_LOSSLESS, JPEG_LS, RLE})
    {
      EXPECT_TRUE(IsLost(received, target)) << target;
    }

    EXPECT_TRUE(IsLost(received, JPEG_2000_LOSSLESS));
    EXPECT_FALSE(IsLost(received, "1.2.840.10008.1.2.4.51"));
  }


  TEST(Obstacles, WhatIsNotShownMayBecomeWhatIsNotShownButNotFalseColours)
  {
    const ImageDescription received = Describe(EXPLICIT_LITTLE_ENDIAN, "YBR_FULL");
    EXPECT_FALSE(IsLost(received, "1.2.840.10008.1.2"));
    EXPECT_FALSE(IsLost(received, DEFLATED));
    EXPECT_FALSE(IsLost(received, JPEG_2000_LOSSLESS));
    EXPECT_FALSE(IsLost(received, JPEG_BASELINE));
    EXPECT_TRUE(IsLost(received, JPEG_LS));
    EXPECT_FALSE(IsLost(Describe(JPEG_2000_LOSSLESS, "YBR_RCT"), EXPLICIT_LITTLE_ENDIAN));
  }


  TEST(Obstacles, WhatAnEngineHasWrittenIsJudgedByItsOwnAttributes)
  {
    const ImageDescription received = Describe(EXPLICIT_LITTLE_ENDIAN, "RGB");
    ImageDescription stored = Describe(RLE, "RGB");
    EXPECT_EQ("", FindLossOfPicture(received, stored));
    stored.planarConfiguration = 1;
    EXPECT_NE("", FindLossOfPicture(received, stored));
    EXPECT_NE("", FindLossOfPicture(received, Describe(JPEG_LS, "YBR_FULL")));
  }


  TEST(Obstacles, EightBitsInSixteenHaveNoPictureOnceTheyAreCompressed)
  {
    ImageDescription received = Describe(EXPLICIT_LITTLE_ENDIAN, "MONOCHROME2", 16, 8);
    EXPECT_TRUE(IsLost(received, JPEG_LOSSLESS));
    EXPECT_TRUE(IsLost(received, RLE));
    EXPECT_FALSE(IsLost(received, DEFLATED));
    EXPECT_TRUE(IsLost(Describe(EXPLICIT_LITTLE_ENDIAN, "RGB", 16, 8), JPEG_LS));

    received.pixelRepresentation = 1;
    EXPECT_FALSE(IsLost(received, JPEG_LOSSLESS));
  }


  TEST(Obstacles, NoBitsAreShiftedOnceTheyAreCompressed)
  {
    ImageDescription received = Describe(EXPLICIT_LITTLE_ENDIAN, "MONOCHROME2", 16, 12);
    received.highBit = 15;
    EXPECT_TRUE(IsLost(received, JPEG_LS));
    EXPECT_FALSE(IsLost(received, DEFLATED));
  }


  TEST(Obstacles, RleIsWrittenByPixelAndThusHasItsColours)
  {
    ImageDescription received = Describe(EXPLICIT_LITTLE_ENDIAN, "RGB");
    received.planarConfiguration = 1;
    EXPECT_FALSE(IsLost(received, RLE));
  }


  TEST(Obstacles, WhatHasNoPixelsIsNotLost)
  {
    ImageDescription received;
    EXPECT_FALSE(IsLost(received, RLE));
    received.kind = PixelDataKind::None;
    EXPECT_FALSE(IsLost(received, DEFLATED));
  }


  TEST(Obstacles, WhatIsInTheTargetIsLeftAlone)
  {
    const ImageDescription image = Describe(MakeSampleImage({}));
    EXPECT_EQ("in the target already", FindReasonToLeaveAlone(image, EXPLICIT_LITTLE_ENDIAN));
    EXPECT_EQ("", FindReasonToLeaveAlone(image, JPEG_LOSSLESS));
  }


  TEST(Obstacles, WhatHasNoPixelsIsLeftAlone)
  {
    const std::string meta = DicomFileBuilder::FileMeta(EXPLICIT_LITTLE_ENDIAN);
    DicomFileBuilder builder;
    builder.Identifiers();
    EXPECT_EQ("no pixel data",
              FindReasonToLeaveAlone(Describe(meta + builder.GetBytes()), JPEG_LOSSLESS));
    EXPECT_NE("", FindObstacle(Describe(meta + builder.GetBytes()), JPEG_LOSSLESS));
    EXPECT_EQ("", FindObstacle(Describe(meta + builder.GetBytes()), "1.2.840.10008.1.2"));

    builder.Element(0x7fe00008, "OF", "abcd");
    EXPECT_NE(std::string::npos,
              FindReasonToLeaveAlone(Describe(meta + builder.GetBytes()), JPEG_LOSSLESS)
                  .find("Float Pixel Data"));
  }


  TEST(Obstacles, VideosAreLeftAlone)
  {
    for (const char* const video : {"100", "100.1", "101", "102", "103.1", "106", "107", "108"})
    {
      const ImageDescription image =
          Describe(DicomFileBuilder::FileMeta(std::string("1.2.840.10008.1.2.4.") + video));
      EXPECT_EQ("a video", FindReasonToLeaveAlone(image, JPEG_LOSSLESS)) << video;
      EXPECT_EQ("a video", FindObstacle(image, EXPLICIT_LITTLE_ENDIAN)) << video;
    }

    for (const char* const other : {"10", "109", "110", "50", "201"})
    {
      const ImageDescription image =
          Describe(DicomFileBuilder::FileMeta(std::string("1.2.840.10008.1.2.4.") + other));
      EXPECT_NE("a video", FindReasonToLeaveAlone(image, JPEG_LOSSLESS)) << other;
    }
  }


  // Labels, doses and measurements are no brightness
  TEST(Obstacles, SegmentationsDosesAndMapsAreLeftAloneByLoss)
  {
    const std::vector<std::pair<std::string, std::string>> classes = {
        {"30", "a Parametric Map"},
        {"66.4", "a Segmentation"},
        {"66.7", "a Label Map Segmentation"},
        {"66.8", "a Height Map Segmentation"},
        {"481.2", "an RT Dose"}};

    const auto find = [](const std::string& sopClass, const char* target)
    {
      const std::string sample = MakeSampleImage({});
      DataSetEditor editor{ReceivedFile(sample)};
      editor.Set(0x00080016, "UI", "1.2.840.10008.5.1.4.1.1." + sopClass);
      const std::string file = editor.Write();
      return FindReasonToLeaveAlone(Describe(file), target);
    };

    for (const auto& [sopClass, name] : classes)
    {
      for (const char* const syntax : {"50", "51", "81", "91"})
      {
        EXPECT_EQ(name + ", of which loss would make another one",
                  find(sopClass, (std::string("1.2.840.10008.1.2.4.") + syntax).c_str()));
      }

      EXPECT_EQ("", find(sopClass, JPEG_LOSSLESS));
    }

    for (const char* const other : {"2", "481.1", "4.1"})
    {
      EXPECT_EQ("", find(other, JPEG_BASELINE)) << other;
    }
  }


  // Their pixels may be in any order, or compressed in some way; and the names are strangers' texts
  TEST(Obstacles, TransferSyntaxesThatNobodyKnowsAreAnObstacle)
  {
    for (const char* transferSyntax : {"1.2.3.4", "1.2.840.10008.1.2.4.999", "Jane Doe"})
    {
      ImageFile image;
      image.transferSyntax = transferSyntax;
      image.FillWithNoise(1);
      EXPECT_EQ("in a transfer syntax that is not DICOM's",
                FindObstacle(Describe(image.Make()), JPEG_LS));
      image.transferSyntax = EXPLICIT_LITTLE_ENDIAN;
      EXPECT_EQ("", FindObstacle(Describe(image.Make()), JPEG_LS));
    }
  }


  TEST(Obstacles, NumbersThatDicomDoesNotDefineAreAnObstacle)
  {
    const std::string sample = MakeSampleImage({});
    ImageDescription image = Describe(sample);
    image.pixelRepresentation = 2;
    EXPECT_EQ("Pixel Representation or Planar Configuration is neither 0 nor 1",
              FindObstacle(image, JPEG_LOSSLESS));
    image.pixelRepresentation = 1;
    image.planarConfiguration = 2;  // of one sample, it does not count
    EXPECT_EQ("", FindObstacle(image, JPEG_LOSSLESS));
    image.photometricInterpretation = "YBR_RCT";
    const char* const reason = "uncompressed or RLE, with colours that only JPEG 2000 has";
    EXPECT_EQ(reason, FindObstacle(image, JPEG_LOSSLESS));
    image.kind = PixelDataKind::Encapsulated;
    image.transferSyntax = "1.2.840.10008.1.2.5";
    EXPECT_EQ(reason, FindObstacle(image, JPEG_LOSSLESS));
  }


  TEST(Obstacles, MissingPixelsAreAnObstacle)
  {
    ImageFile image;
    image.FillWithNoise(1);
    image.pixels.resize(10);
    EXPECT_EQ("Pixel Data has 10 bytes instead of 12", Find(image, JPEG_LOSSLESS));
    const std::string file = MakeSampleImage({});
    EXPECT_EQ("", FindObstacle(Describe(file), JPEG_LOSSLESS));
    EXPECT_NE("", FindObstacle(Describe(file.substr(0, file.size() - 1)), JPEG_LOSSLESS));
  }


  TEST(Obstacles, TransferSyntaxesHoldSoManyBits)
  {
    const std::string holds8 = "the target holds at most 8 Bits Allocated and 8 Bits Stored";
    const std::string holds12 = "the target holds at most 16 Bits Allocated and 12 Bits Stored";
    const std::string holds16 = "the target holds at most 16 Bits Allocated and 16 Bits Stored";
    EXPECT_EQ("", Find(MakeFile(8, 8), JPEG_BASELINE));
    EXPECT_EQ(holds8, Find(MakeFile(16, 8), JPEG_BASELINE));
    EXPECT_EQ("", Find(MakeFile(16, 12), JPEG_EXTENDED));
    EXPECT_EQ(holds12, Find(MakeFile(16, 13), JPEG_EXTENDED));
    EXPECT_EQ("JPEG has no signed samples", Find(MakeFile(8, 8, true), JPEG_BASELINE));
    EXPECT_EQ("JPEG has no signed samples", Find(MakeFile(16, 12, true), JPEG_EXTENDED));

    for (const std::string target : {JPEG_LOSSLESS, JPEG_LS})
    {
      EXPECT_EQ("", Find(MakeFile(16, 16, true), target));
      EXPECT_EQ(holds16, Find(MakeFile(32, 12), target));
    }

    EXPECT_EQ("", Find(MakeFile(32, 32), RLE));
    EXPECT_EQ("", Find(MakeFile(16, 16), JPEG_2000_LOSSLESS, "gdcm"));
    EXPECT_EQ(holds16, Find(MakeFile(24, 24), JPEG_2000_LOSSLESS, "gdcm"));
    EXPECT_EQ("", Find(MakeFile(64, 64), EXPLICIT_LITTLE_ENDIAN));
    EXPECT_EQ("Bits Allocated is none of 8, 16, 24 and 32", Find(MakeFile(64, 64), RLE));
    EXPECT_EQ("Bits Allocated, Bits Stored and High Bit contradict each other",
              Find(MakeFile(8, 9), RLE));
  }


  TEST(Obstacles, LossLeavesLittleOfFewBitsOrIndices)
  {
    ImageFile palette = MakeFile(8, 8);
    palette.photometric = "PALETTE COLOR";

    for (const char* const target : {JPEG_BASELINE, JPEG_EXTENDED})
    {
      EXPECT_NE("", Find(MakeFile(8, 3), target)) << target;
      EXPECT_EQ("", Find(MakeFile(8, 4), target)) << target;
      EXPECT_NE("", Find(palette, target)) << target;
    }

    for (const char* const target : {"1.2.840.10008.1.2.4.81", "1.2.840.10008.1.2.4.91"})
    {
      EXPECT_NE("", Find(MakeFile(8, 3), target, "gdcm")) << target;
      EXPECT_EQ("", Find(MakeFile(8, 4), target, "gdcm")) << target;
      EXPECT_NE("", Find(palette, target, "gdcm")) << target;
    }

    EXPECT_EQ("", Find(palette, JPEG_LOSSLESS));
  }


  // JPEG_MAX_DIMENSION of libjpeg, thus of Orthanc and most viewers
  TEST(Obstacles, LargerJpegThanOthersReadIsNotMade)
  {
    for (const bool isTall : {false, true})
    {
      ImageFile image = MakeFile(8, 8);
      (isTall ? image.columns : image.rows) = 1;
      unsigned int& side = isTall ? image.rows : image.columns;
      side = 65500;
      EXPECT_EQ("", Find(image, JPEG_BASELINE));
      EXPECT_EQ("", Find(image, JPEG_LOSSLESS));
      side = 65501;
      EXPECT_NE("", Find(image, JPEG_BASELINE));
      EXPECT_NE("", Find(image, JPEG_LOSSLESS));
      EXPECT_EQ("", Find(image, JPEG_LS));
    }
  }


  TEST(Obstacles, EnginesHaveLimitsOfTheirOwn)
  {
    ImageFile small = MakeFile(8, 8);
    small.rows = small.columns = 7;
    EXPECT_NE("", Find(small, JPEG_LS, "gdcm"));
    EXPECT_EQ("", Find(small, JPEG_LS, "dcmtk"));
    EXPECT_EQ("", Find(small, JPEG_LS));
    small.rows = 27;
    small.columns = 28;
    EXPECT_EQ("", Find(small, JPEG_LS, "gdcm"));
    EXPECT_NE("", Find(small, JPEG_2000_LOSSLESS, "gdcm"));
    small.rows = 1;
    small.columns = 1000;
    EXPECT_NE("", Find(small, JPEG_2000_LOSSLESS, "gdcm"));

    ImageFile shared = MakeFile(8, 8);
    shared.samples = 3;
    shared.photometric = "YBR_FULL_422";
    shared.pixels.resize(2048);
    EXPECT_EQ("uncompressed with subsampled colours", Find(shared, JPEG_LOSSLESS));
    EXPECT_EQ("", Find(shared, "1.2.840.10008.1.2"));
  }


  TEST(Obstacles, ColoursThatNobodyKnowsAreOne)
  {
    const std::string reason =
        "Samples per Pixel and Photometric Interpretation are neither of one component, nor RGB or "
        "YBR_FULL";

    for (const char* const photometric : {"ARGB", "MILLER\xff", "HSV", "RGB", "YBR_FULL"})
    {
      ImageFile image = MakeFile(8, 8);
      image.photometric = photometric;
      EXPECT_EQ(reason, Find(image, JPEG_LOSSLESS)) << photometric;
      EXPECT_EQ("", Find(image, "1.2.840.10008.1.2")) << photometric;
    }

    ImageFile image = MakeFile(8, 8);
    image.samples = 3;
    EXPECT_EQ(reason, Find(image, RLE));
    image.photometric = "RGB";
    EXPECT_EQ("", Find(image, RLE));
  }


  TEST(Obstacles, TinyFramesThatWouldGrowAreOne)
  {
    ImageFile image = MakeFile(8, 8);
    image.rows = image.columns = 1;
    image.frames = "100000";
    EXPECT_EQ("the frames are so small that they would grow", Find(image, JPEG_LOSSLESS));
    EXPECT_EQ("", Find(image, "1.2.840.10008.1.2"));
  }


  // They would be of another transfer syntax than the file, or could not be in its own
  TEST(Obstacles, CompressedPixelsInsideASequenceAreOne)
  {
    for (const char* const representation : {"OB", "OW"})
    {
      const std::string icon = DicomFileBuilder()
                                   .Header(0xfffc0001, "SQ", UNDEFINED_LENGTH)
                                   .Item(UNDEFINED_LENGTH)
                                   .Header(TAG_PIXEL_DATA, representation, UNDEFINED_LENGTH)
                                   .Item(0)
                                   .Item(2)
                                   .Raw("..")
                                   .EndOfSequence()
                                   .EndOfItem()
                                   .EndOfSequence()
                                   .GetBytes();
      const std::string file = MakeSampleImage({}) + icon;
      EXPECT_EQ("a sequence has compressed pixels of its own: an icon, say",
                FindObstacle(Describe(file), JPEG_LOSSLESS));
    }
  }
}
