// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/GdcmProgram.h"

#include "Dicom/EncapsulatedPixels.h"
#include "Dicom/PixelElement.h"
#include "Transcoding/EncapsulatedFrames.h"
#include "Transcoding/Program/AmbiguousValues.h"

namespace OrthancPerf
{
  namespace
  {
    const std::vector<std::string> ENCAPSULATED = {
        JPEG_BASELINE, JPEG_EXTENDED,      JPEG_LOSSLESS, JPEG_LOSSLESS_SV1, JPEG_LS_LOSSLESS,
        JPEG_LS_LOSSY, JPEG_2000_LOSSLESS, JPEG_2000,     RLE_LOSSLESS};

    ImageFile MakeImage(unsigned int frames = 1)
    {
      ImageFile image;
      image.rows = 40;
      image.columns = 50;
      image.bitsAllocated = image.bitsStored = 8;
      image.frames = std::to_string(frames);
      FillWithGradient(image, frames);
      return image;
    }

    std::string SetPixels(const std::string& file, const std::vector<std::string>& fragments,
                          const std::string& offsetTable = "")
    {
      DataSetEditor editor(file.data(), file.size());
      editor.SetEncoded(TAG_PIXEL_DATA, MakePixelElement(fragments, offsetTable));
      return editor.Write();
    }

    std::vector<std::string> CutIntoPieces(const std::string& text, std::size_t length)
    {
      std::vector<std::string> pieces;

      for (std::size_t i = 0; i < text.size(); i += length)
      {
        pieces.push_back(text.substr(i, length));
      }

      return pieces;
    }

    std::string SwapWords(std::string bytes)
    {
      for (std::size_t i = 0; i + 1 < bytes.size(); i += 2)
      {
        std::swap(bytes[i], bytes[i + 1]);
      }

      return bytes;
    }
  }


  class GdcmSources : public GdcmProgram
  {
  protected:
    void ExpectFailure(const std::string& file, const std::string& what) const
    {
      const EngineResult result = Try(file, EXPLICIT_VR);
      EXPECT_NE(ToLabel(result.outcome), std::string("transcoded")) << what;
      EXPECT_NE(result.reason, "") << what;
    }
  };


  TEST_F(GdcmSources, FewerThanEightBitsInEightAreDecoded)
  {
    for (const std::string target : {JPEG_LOSSLESS_SV1, JPEG_BASELINE})
    {
      ImageFile image = MakeImage();
      const std::string file = Set(Transcode(image.Make(), target), 0x00280101, 7);
      const std::string shifted = Set(file, 0x00280102, 6);
      EXPECT_EQ(GetPixels(Transcode(shifted, EXPLICIT_VR)).size(), image.pixels.size()) << target;
    }
  }


  TEST_F(GdcmSources, BigEndianIsTurnedAround)
  {
    ImageFile image = MakeImage();
    image.bitsAllocated = image.bitsStored = 16;
    FillWithGradient(image);

    const auto bigEndian = [](unsigned int value)
    {
      return SwapWords(ImageFile::Number(value));
    };
    const std::string dataSet = DicomFileBuilder({true, true})
                                    .Element(0x00280002, "US", bigEndian(1))
                                    .Element(0x00280004, "CS", "MONOCHROME2 ")
                                    .Element(0x00280010, "US", bigEndian(40))
                                    .Element(0x00280011, "US", bigEndian(50))
                                    .Element(0x00280100, "US", bigEndian(16))
                                    .Element(0x00280101, "US", bigEndian(16))
                                    .Element(0x00280102, "US", bigEndian(15))
                                    .Element(0x00280103, "US", bigEndian(0))
                                    .Element(TAG_PIXEL_DATA, "OW", SwapWords(image.pixels))
                                    .GetBytes();
    const std::string file = DicomFileBuilder::FileMeta("1.2.840.10008.1.2.2") + dataSet;
    EXPECT_EQ(GetPixels(Transcode(file, EXPLICIT_VR)), image.pixels);
    EXPECT_EQ(GetPixels(Repeat(file, JPEG_LS_LOSSLESS)), image.pixels);
  }


  TEST_F(GdcmSources, CompressedPixelsOfAnIconAreNotTakenOutOfTheirTransferSyntax)
  {
    const std::string file = Transcode(MakeImage().Make(), JPEG_LS_LOSSLESS);

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
      ExpectFailure(file + icon, representation);
    }
  }


  TEST_F(GdcmSources, AFrameMayBeInManyFragmentsUnlessItIsRle)
  {
    for (const std::string& syntax : ENCAPSULATED)
    {
      if (syntax == RLE_LOSSLESS)
      {
        continue;
      }

      const std::string file = Transcode(MakeImage().Make(), syntax);
      const std::string frame = EncapsulatedFrames(file).fragments[0];
      const std::string split = SetPixels(file, CutIntoPieces(frame, 100));
      EXPECT_EQ(Transcode(split, EXPLICIT_VR), Transcode(file, EXPLICIT_VR)) << syntax;
    }
  }


  TEST_F(GdcmSources, FramesInManyFragmentsAreFoundByTableOrMarker)
  {
    const std::string file = Transcode(MakeImage(2).Make(), JPEG_LOSSLESS_SV1);
    const EncapsulatedFrames frames(file);
    std::vector<std::string> pieces = CutIntoPieces(frames.fragments[0], 100);
    std::size_t second = 0;

    for (const std::string& piece : pieces)
    {
      second += 8 + piece.size();
    }

    for (const std::string& piece : CutIntoPieces(frames.fragments[1], 100))
    {
      pieces.push_back(piece);
    }

    std::string table;
    AppendInteger(table, 0, 4);
    AppendInteger(table, second, 4);
    const std::string expected = Transcode(file, EXPLICIT_VR);
    EXPECT_EQ(Transcode(SetPixels(file, pieces, table), EXPLICIT_VR), expected);
    EXPECT_EQ(Transcode(SetPixels(file, pieces), EXPLICIT_VR), expected);
    ExpectFailure(SetPixels(file, pieces, "\x01\x02\x03\x04 lie"), "a table that lies");
  }


  TEST_F(GdcmSources, HugeImagesOfFewBytesFail)
  {
    const std::string native = Set(Set(MakeImage().Make(), 0x00280010, 65535), 0x00280011, 65535);
    EXPECT_EQ(Try(native, JPEG_LOSSLESS).outcome, TranscodingOutcome::Declined);

    for (const std::string& syntax : ENCAPSULATED)
    {
      const std::string file = Transcode(MakeImage().Make(), syntax);
      const std::string large = Set(Set(file, 0x00280010, 65535), 0x00280011, 65535);
      ExpectFailure(large, syntax);
      ExpectFailure(SetPixels(large, {"0123456789"}), syntax);
      ExpectFailure(Set(file, 0x00280010, 41), syntax);
    }
  }


  TEST_F(GdcmSources, CutFramesFail)
  {
    for (const std::string& syntax : ENCAPSULATED)
    {
      const std::string file = Transcode(MakeImage().Make(), syntax);
      const std::string frame = EncapsulatedFrames(file).fragments[0];

      for (std::size_t i = 0; i < 10; i++)
      {
        ExpectFailure(SetPixels(file, {frame.substr(0, frame.size() * i / 10)}), syntax);
      }

      ExpectFailure(SetPixels(file, {}), syntax);
      ExpectFailure(file.substr(0, file.size() - 20), syntax);
    }
  }


  TEST_F(GdcmSources, MissingFramesFail)
  {
    for (const std::string& syntax : ENCAPSULATED)
    {
      const std::string file = Transcode(MakeImage(2).Make(), syntax);
      ExpectFailure(SetPixels(file, {EncapsulatedFrames(file).fragments[0]}), syntax);
    }
  }


  TEST_F(GdcmSources, FramesThatAreNotDescribedAreNotLeftOut)
  {
    for (const std::string& syntax : ENCAPSULATED)
    {
      const std::string file = Transcode(MakeImage(2).Make(), syntax);
      DataSetEditor editor(file.data(), file.size());
      editor.Remove(0x00280008);
      ExpectFailure(editor.Write(), syntax);

      for (const char* const frames : {"0", "1", "abc", "-1"})
      {
        editor.Set(0x00280008, "IS", frames);
        ExpectFailure(editor.Write(), syntax);
      }

      editor.Set(0x00280008, "IS", "+2");
      EXPECT_EQ(GetPixels(Transcode(editor.Write(), EXPLICIT_VR)).size(),
                GetPixels(Transcode(file, EXPLICIT_VR)).size());
    }
  }


  TEST_F(GdcmSources, SignedValuesInSequencesStaySigned)
  {
    for (const bool isSigned : {false, true})
    {
      for (const std::string target : {EXPLICIT_VR, JPEG_2000_LOSSLESS, RLE_LOSSLESS})
      {
        EXPECT_EQ(
            AmbiguousValues::FindWrong(Transcode(AmbiguousValues(isSigned).file, target), isSigned),
            "")
            << target << " " << isSigned;
      }
    }
  }


  // DICOM PS3.3 section C.7.6.1.1.5: once compressed with loss, always
  TEST_F(GdcmSources, WhatWasLossySaysSoWhenItIsDecoded)
  {
    for (const std::string& syntax : ENCAPSULATED)
    {
      const bool isLossy = syntax == JPEG_BASELINE || syntax == JPEG_EXTENDED ||
                           syntax == JPEG_LS_LOSSY || syntax == JPEG_2000;
      const std::string file = Transcode(MakeImage().Make(), syntax);

      for (const bool isDenied : {false, true})
      {
        DataSetEditor source(file.data(), file.size());

        if (isDenied)
        {
          source.Set(0x00282110, "CS", "00");
        }

        for (const std::string target : {EXPLICIT_VR, RLE_LOSSLESS, JPEG_LOSSLESS})
        {
          if (target != syntax)
          {
            const std::string result = Transcode(source.Write(), target);
            const DataSetEditor editor(result.data(), result.size());
            EXPECT_EQ(editor.GetText(0x00282110), isLossy    ? "01"
                                                  : isDenied ? "00"
                                                             : "")
                << syntax << " " << target;
          }
        }
      }
    }
  }


  TEST_F(GdcmSources, Jpeg2000WithoutLossIsNoLossWhateverItMayHold)
  {
    const std::string file = Transcode(MakeImage().Make(), JPEG_2000_LOSSLESS);
    DataSetEditor source(file.data(), file.size());
    source.Set(0x00020010, "UI", JPEG_2000);
    const std::string result = Transcode(source.Write(), EXPLICIT_VR);
    EXPECT_EQ(DataSetEditor(result.data(), result.size()).GetText(0x00282110), "");
  }


  TEST_F(GdcmSources, DamagedJpegIsNotFilledWithGrey)
  {
    const std::string file = Transcode(MakeImage().Make(), JPEG_BASELINE);
    std::string frame = EncapsulatedFrames(file).fragments[0];
    const std::string end = "\xff\xd9";
    frame.replace(frame.size() * 2 / 3, end.size(), end);
    ExpectFailure(SetPixels(file, {frame}), "an end in the middle");
  }


  TEST_F(GdcmSources, CompressedIconsAreDeclined)
  {
    const std::string file = Transcode(MakeImage().Make(), JPEG_LS_LOSSLESS);
    const DataSetEditor icon(file.data(), file.size());
    std::string content;
    std::string item;

    for (const DataSetEditor::Element& element : icon.GetElements())
    {
      content += element.bytes;
    }

    AppendItem(item, content);
    DataSetEditor editor(file.data(), file.size());
    editor.Set(0x00880200, "SQ", item);

    for (const std::string target : {EXPLICIT_VR, JPEG_LOSSLESS})
    {
      EXPECT_EQ(Try(editor.Write(), target).outcome, TranscodingOutcome::Declined) << target;
    }
  }


  TEST_F(GdcmSources, NoiseInsteadOfAFileFails)
  {
    ImageFile noise;
    noise.FillWithNoise(1, 1000);
    ExpectFailure(noise.pixels, "noise");
    ExpectFailure(std::string(128, '\0') + "DICM" + noise.pixels, "noise behind a prefix");
    ExpectFailure("", "nothing");
  }


  TEST_F(GdcmSources, DeflatedFilesAreInflated)
  {
    const ImageFile image = MakeImage();
    const std::string file = Transcode(image.Make(), DEFLATED);
    EXPECT_EQ(GetPixels(Transcode(file, EXPLICIT_VR)), image.pixels);
    EXPECT_EQ(GetPixels(Repeat(file, JPEG_2000_LOSSLESS)), image.pixels);
  }

}
