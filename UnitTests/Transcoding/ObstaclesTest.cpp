// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Obstacles.h"

#include "Dicom/EditFile.h"
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
      return engine == nullptr ? FindObstacle(DescribeFile(file), target)
                               : FindObstacleOfEngine(DescribeFile(file), target, engine);
    }
  }

  TEST(Obstacles, APictureThatOrthancWouldNotShowAnyMoreIsLost)
  {
    constexpr const char* IMPLICIT = "1.2.840.10008.1.2";
    const std::vector<std::string> all = {EXPLICIT_LITTLE_ENDIAN, DEFLATED, JPEG_BASELINE,
                                          JPEG_LOSSLESS,          JPEG_LS,  RLE};
    const ImageDescription eightInSixteen = Describe(EXPLICIT_LITTLE_ENDIAN, "MONOCHROME2", 16, 8);
    ImageDescription isSigned = eightInSixteen;
    isSigned.pixelRepresentation = 1;
    ImageDescription shifted = Describe(EXPLICIT_LITTLE_ENDIAN, "MONOCHROME2", 16, 12);
    shifted.highBit = 15;
    ImageDescription planar = Describe(EXPLICIT_LITTLE_ENDIAN, "RGB");
    planar.planarConfiguration = 1;
    ImageDescription empty;
    empty.kind = PixelDataKind::None;
    const struct
    {
      const char* name;
      ImageDescription received;
      std::vector<std::string> kept;
      std::vector<std::string> lost;
    } cases[] = {
        {"colours", Describe(EXPLICIT_LITTLE_ENDIAN, "RGB"), all, {}},
        {"compressed colours", Describe(JPEG_LS, "RGB"), all, {}},
        {"grey", Describe(EXPLICIT_LITTLE_ENDIAN, "MONOCHROME2", 16, 12), all, {}},
        {"colours that are shown of lossy JPEG only",
         Describe(JPEG_BASELINE, "YBR_FULL_422"),
         {"1.2.840.10008.1.2.4.51"},
         {EXPLICIT_LITTLE_ENDIAN, JPEG_LOSSLESS, JPEG_LS, RLE, JPEG_2000_LOSSLESS}},
        {"what is not shown, and must not get false colours",
         Describe(EXPLICIT_LITTLE_ENDIAN, "YBR_FULL"),
         {IMPLICIT, DEFLATED, JPEG_2000_LOSSLESS, JPEG_BASELINE},
         {JPEG_LS}},
        {"RCT", Describe(JPEG_2000_LOSSLESS, "YBR_RCT"), {EXPLICIT_LITTLE_ENDIAN}, {}},
        {"8 bits in 16", eightInSixteen, {DEFLATED}, {JPEG_LOSSLESS, RLE}},
        {"8 bits in 16, signed", isSigned, {JPEG_LOSSLESS}, {}},
        {"colours of 8 bits in 16", Describe(EXPLICIT_LITTLE_ENDIAN, "RGB", 16, 8), {}, {JPEG_LS}},
        {"shifted bits", shifted, {DEFLATED}, {JPEG_LS}},
        {"planes, which RLE has by pixel", planar, {RLE}, {}},
        {"unknown pixels", {}, {RLE}, {}},
        {"no pixels", empty, {DEFLATED}, {}}};

    for (const auto& one : cases)
    {
      for (const std::string& target : one.kept)
      {
        EXPECT_EQ("", FindLossOfPicture(one.received, target)) << one.name << " to " << target;
      }

      for (const std::string& target : one.lost)
      {
        EXPECT_NE("", FindLossOfPicture(one.received, target)) << one.name << " to " << target;
      }
    }

    // What an engine has written is judged by its own attributes
    const ImageDescription received = Describe(EXPLICIT_LITTLE_ENDIAN, "RGB");
    ImageDescription stored = Describe(RLE, "RGB");
    EXPECT_EQ("", FindLossOfPicture(received, stored));
    stored.planarConfiguration = 1;
    EXPECT_NE("", FindLossOfPicture(received, stored));
    EXPECT_NE("", FindLossOfPicture(received, Describe(JPEG_LS, "YBR_FULL")));
  }

  TEST(Obstacles, WhatIsInTheTargetOrHasNoPixelsOrIsAVideoIsLeftAlone)
  {
    const ImageDescription image = DescribeFile(MakeSampleImage({}));
    EXPECT_EQ("in the target already", FindReasonToLeaveAlone(image, EXPLICIT_LITTLE_ENDIAN));
    EXPECT_EQ("", FindReasonToLeaveAlone(image, JPEG_LOSSLESS));

    DicomFileBuilder builder;
    builder.Raw(DicomFileBuilder::FileMeta(EXPLICIT_LITTLE_ENDIAN)).Identifiers();
    EXPECT_EQ("no pixel data",
              FindReasonToLeaveAlone(DescribeFile(builder.GetBytes()), JPEG_LOSSLESS));
    EXPECT_NE("", FindObstacle(DescribeFile(builder.GetBytes()), JPEG_LOSSLESS));
    EXPECT_EQ("", FindObstacle(DescribeFile(builder.GetBytes()), "1.2.840.10008.1.2"));
    builder.Element(0x7fe00008, "OF", "abcd");
    EXPECT_NE(std::string::npos,
              FindReasonToLeaveAlone(DescribeFile(builder.GetBytes()), JPEG_LOSSLESS)
                  .find("Float Pixel Data"));

    for (const std::string syntax : {"100", "100.1", "101", "102", "103.1", "106", "107", "108",
                                     "10", "109", "110", "50", "201"})
    {
      const ImageDescription file =
          DescribeFile(DicomFileBuilder::FileMeta("1.2.840.10008.1.2.4." + syntax));
      const bool isVideo = syntax.substr(0, 2) == "10" && syntax != "10" && syntax != "109";
      EXPECT_EQ(isVideo, FindReasonToLeaveAlone(file, JPEG_LOSSLESS) == "a video") << syntax;
      EXPECT_EQ(isVideo, FindObstacle(file, EXPLICIT_LITTLE_ENDIAN) == "a video") << syntax;
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

    const auto find = [](const std::string& sopClass, const std::string& target)
    {
      const std::string file =
          SetElement(MakeSampleImage({}), 0x00080016, "UI", "1.2.840.10008.5.1.4.1.1." + sopClass);
      return FindReasonToLeaveAlone(DescribeFile(file), target);
    };

    for (const auto& [sopClass, name] : classes)
    {
      for (const char* const syntax : {"50", "51", "81", "91"})
      {
        EXPECT_EQ(name + ", of which loss would make another one",
                  find(sopClass, std::string("1.2.840.10008.1.2.4.") + syntax));
      }

      EXPECT_EQ("", find(sopClass, JPEG_LOSSLESS));
    }

    for (const char* const other : {"2", "481.1", "4.1"})
    {
      EXPECT_EQ("", find(other, JPEG_BASELINE)) << other;
    }
  }

  // JPEG_MAX_DIMENSION of libjpeg, thus of Orthanc and most viewers, is 65500
  TEST(Obstacles, EachTargetAndEngineHasItsLimits)
  {
    constexpr const char* IMPLICIT = "1.2.840.10008.1.2";
    constexpr const char* NEAR_LOSSLESS = TransferSyntaxUid::JPEG_LS_NEAR_LOSSLESS;
    constexpr const char* JPEG_2000 = TransferSyntaxUid::JPEG_2000;
    constexpr const char* ANY = "any";  // reason
    const std::string holds8 = "the target holds at most 8 Bits Allocated and 8 Bits Stored";
    const std::string holds12 = "the target holds at most 16 Bits Allocated and 12 Bits Stored";
    const std::string holds16 = "the target holds at most 16 Bits Allocated and 16 Bits Stored";
    const std::string unsignedOnly = "JPEG has no signed samples";
    const std::string unknownColours =
        "Samples per Pixel and Photometric Interpretation are neither of one component, nor RGB or "
        "YBR_FULL";
    const std::string unknownSyntax = "in a transfer syntax that is not DICOM's";
    const auto inSyntax = [](const char* syntax)
    {
      ImageFile image = MakeFile(16, 16);
      image.transferSyntax = syntax;
      return image;
    };
    const auto ofSize = [](unsigned int rows, unsigned int columns, const char* frames = "")
    {
      ImageFile image = MakeFile(8, 8);
      image.rows = rows;
      image.columns = columns;
      image.frames = frames;
      return image;
    };
    const auto ofColours = [](const char* photometric, unsigned int samples, std::size_t size = 0)
    {
      ImageFile image = MakeFile(8, 8);
      image.photometric = photometric;
      image.samples = samples;
      image.pixels.resize(size);
      return image;
    };
    using Targets = std::vector<std::string>;
    const Targets lossyJpeg = {JPEG_BASELINE, JPEG_EXTENDED};
    const Targets lossyOfGdcm = {NEAR_LOSSLESS, JPEG_2000};
    const Targets jpeg = {JPEG_BASELINE, JPEG_LOSSLESS};
    const ImageFile palette = ofColours("PALETTE COLOR", 1);
    const struct
    {
      const char* name;
      ImageFile image;
      Targets targets;
      std::string reason;
      const char* engine = nullptr;
    } cases[] = {
        {"a private syntax", inSyntax("1.2.3.4"), {JPEG_LS}, unknownSyntax},
        {"an unknown syntax", inSyntax("1.2.840.10008.1.2.4.999"), {JPEG_LS}, unknownSyntax},
        {"a stranger's text", inSyntax("Jane Doe"), {JPEG_LS}, unknownSyntax},
        {"a known syntax", inSyntax(EXPLICIT_LITTLE_ENDIAN), {JPEG_LS}, ""},
        {"8 bits", MakeFile(8, 8), {JPEG_BASELINE}, ""},
        {"8 bits in 16", MakeFile(16, 8), {JPEG_BASELINE}, holds8},
        {"12 bits", MakeFile(16, 12), {JPEG_EXTENDED}, ""},
        {"13 bits", MakeFile(16, 13), {JPEG_EXTENDED}, holds12},
        {"signed 8 bits", MakeFile(8, 8, true), {JPEG_BASELINE}, unsignedOnly},
        {"signed 12 bits", MakeFile(16, 12, true), {JPEG_EXTENDED}, unsignedOnly},
        {"signed 16 bits", MakeFile(16, 16, true), {JPEG_LOSSLESS, JPEG_LS}, ""},
        {"32 bits", MakeFile(32, 12), {JPEG_LOSSLESS, JPEG_LS}, holds16},
        {"32 bits", MakeFile(32, 32), {RLE}, ""},
        {"64 bits", MakeFile(64, 64), {RLE}, "Bits Allocated is none of 8, 16, 24 and 32"},
        {"64 bits", MakeFile(64, 64), {EXPLICIT_LITTLE_ENDIAN}, ""},
        {"16 bits", MakeFile(16, 16), {JPEG_2000_LOSSLESS}, "", "gdcm"},
        {"24 bits", MakeFile(24, 24), {JPEG_2000_LOSSLESS}, holds16, "gdcm"},
        {"9 bits in 8",
         MakeFile(8, 9),
         {RLE},
         "Bits Allocated, Bits Stored and High Bit contradict each other"},
        {"loss of 3 bits", MakeFile(8, 3), lossyJpeg, ANY},
        {"loss of 3 bits", MakeFile(8, 3), lossyOfGdcm, ANY, "gdcm"},
        {"loss of 4 bits", MakeFile(8, 4), lossyJpeg, ""},
        {"loss of 4 bits", MakeFile(8, 4), lossyOfGdcm, "", "gdcm"},
        {"loss of indices", palette, lossyJpeg, ANY},
        {"loss of indices", palette, lossyOfGdcm, ANY, "gdcm"},
        {"indices", palette, {JPEG_LOSSLESS}, ""},
        {"the widest JPEG", ofSize(1, 65500), jpeg, ""},
        {"the tallest JPEG", ofSize(65500, 1), jpeg, ""},
        {"a wider one", ofSize(1, 65501), jpeg, ANY},
        {"a taller one", ofSize(65501, 1), jpeg, ANY},
        {"a wider one", ofSize(1, 65501), {JPEG_LS}, ""},
        {"a taller one", ofSize(65501, 1), {JPEG_LS}, ""},
        {"49 pixels", ofSize(7, 7), {JPEG_LS}, ANY, "gdcm"},
        {"49 pixels", ofSize(7, 7), {JPEG_LS}, "", "dcmtk"},
        {"49 pixels", ofSize(7, 7), {JPEG_LS}, ""},
        {"756 pixels", ofSize(27, 28), {JPEG_LS}, "", "gdcm"},
        {"756 pixels", ofSize(27, 28), {JPEG_2000_LOSSLESS}, ANY, "gdcm"},
        {"one row", ofSize(1, 1000), {JPEG_2000_LOSSLESS}, ANY, "gdcm"},
        {"tiny frames",
         ofSize(1, 1, "100000"),
         {JPEG_LOSSLESS},
         "the frames are so small that they would grow"},
        {"tiny frames", ofSize(1, 1, "100000"), {IMPLICIT}, ""},
        {"shared chrominance",
         ofColours("YBR_FULL_422", 3, 2048),
         {JPEG_LOSSLESS},
         "uncompressed with subsampled colours"},
        {"shared chrominance", ofColours("YBR_FULL_422", 3, 2048), {IMPLICIT}, ""},
        {"grey of three samples", ofColours("MONOCHROME2 ", 3), {RLE}, unknownColours},
        {"RGB", ofColours("RGB", 3), {RLE}, ""}};

    for (const auto& one : cases)
    {
      for (const std::string& target : one.targets)
      {
        const std::string found = Find(one.image, target, one.engine);
        EXPECT_EQ(one.reason == ANY && !found.empty() ? found : one.reason, found)
            << one.name << " to " << target;
      }
    }

    for (const char* const colours : {"ARGB", "MILLER\xff", "HSV", "RGB", "YBR_FULL"})
    {
      EXPECT_EQ(unknownColours, Find(ofColours(colours, 1), JPEG_LOSSLESS)) << colours;
      EXPECT_EQ("", Find(ofColours(colours, 1), IMPLICIT)) << colours;
    }
  }

  TEST(Obstacles, NumbersThatDicomDoesNotDefineAreAnObstacle)
  {
    const std::string sample = MakeSampleImage({});
    ImageDescription image = DescribeFile(sample);
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
    image.transferSyntax = RLE;
    EXPECT_EQ(reason, FindObstacle(image, JPEG_LOSSLESS));
    EXPECT_NE("", FindObstacle(DescribeFile(sample.substr(0, sample.size() - 1)), JPEG_LOSSLESS));
  }

  // They would be of another transfer syntax than the file, or could not be in its own
  TEST(Obstacles, CompressedPixelsInsideASequenceAreOne)
  {
    for (const char* const representation : {"OB", "OW"})
    {
      const std::string icon = DicomFileBuilder()
                                   .Header(TAG_PIXEL_DATA, representation, UNDEFINED_LENGTH)
                                   .Item(0)
                                   .Item(2)
                                   .Raw("..")
                                   .EndOfSequence()
                                   .GetBytes();
      const std::string file =
          MakeSampleImage({}) + DicomFileBuilder().Sequence(0xfffc0001, icon).GetBytes();
      EXPECT_EQ("a sequence has compressed pixels of its own: an icon, say",
                FindObstacle(DescribeFile(file), JPEG_LOSSLESS));
    }
  }
}
