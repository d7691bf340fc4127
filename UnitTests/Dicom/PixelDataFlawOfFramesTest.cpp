// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/PixelDataFlaw.h"

#include "Dicom/PixelElement.h"

#include <gtest/gtest.h>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* BASELINE = "1.2.840.10008.1.2.4.50";
    constexpr const char* LOSSLESS = "1.2.840.10008.1.2.4.70";
    constexpr const char* JPEG_LS = "1.2.840.10008.1.2.4.80";
    constexpr const char* JPEG_2000 = "1.2.840.10008.1.2.4.91";

    constexpr const char* RLE = "1.2.840.10008.1.2.5";

    constexpr const char* COLORS = "a frame has other colours than Photometric Interpretation says";
    constexpr const char* SHAPE =
        "a frame has other Rows, Columns or Samples per Pixel than its data set says";

    std::string Bytes(std::initializer_list<int> values)
    {
      return {values.begin(), values.end()};
    }

    const std::string JFIF =
        Bytes({0xff, 0xe0, 0, 16}) + "JFIF" + std::string("\0\1\2", 3) + std::string(7, '\0');

    std::string Adobe(int transform)
    {
      return Bytes({0xff, 0xee, 0, 14}) + "Adobe" + std::string(6, '\0') + Bytes({transform});
    }

    // What precedes the entropy-coded bytes of 3 rows and 4 columns: ITU-T T.81 section B.2
    std::string Jpeg(const std::string& markers, int process, const std::string& identifiers,
                     int precision = 8)
    {
      const int components = static_cast<int>(identifiers.size());
      std::string frame =
          Bytes({0xff, 0xd8}) + markers +
          Bytes({0xff, process, 0, 8 + 3 * components, precision, 0, 3, 0, 4, components});

      for (const char identifier : identifiers)
      {
        frame += identifier + Bytes({0x11, 0});
      }

      return frame + Bytes({0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0, 0xff, 0xd9});
    }

    const std::string NUMBERS = "\1\2\3";
    const std::string YCC = Jpeg(JFIF, 0xc0, NUMBERS);
    const std::string RGB = Jpeg(Adobe(0), 0xc0, NUMBERS);

    std::string Jpeg2000(bool isTransformed)
    {
      return Bytes(
          {0xff, 0x4f, 0xff, 0x51, 0,   47,   0,    0,    0,  0,  0, 4, 0, 0, 0,
           3,    0,    0,    0,    0,   0,    0,    0,    0,  0,  0, 0, 4, 0, 0,
           0,    3,    0,    0,    0,   0,    0,    0,    0,  0,  0, 3, 7, 1, 1,
           7,    1,    1,    7,    1,   1,    0xff, 0x52, 0,  12, 0, 0, 0, 1, isTransformed ? 1 : 0,
           5,    4,    4,    0,    1,   0xff, 0x90, 0,    10, 0,  0, 0, 0, 0, 15,
           0,    1,    0xff, 0x93, 'x', 0xff, 0xd9});
    }

    // What a data set says of three samples of 8 bits, and its frames
    class Image
    {
    public:
      Image(const char* transferSyntax, const char* label, const std::vector<std::string>& frames)
      {
        description.transferSyntax = transferSyntax;
        description.kind = PixelDataKind::Encapsulated;
        description.rows = 3;
        description.columns = 4;
        description.samplesPerPixel = 3;
        description.bitsAllocated = 8;
        description.frames = static_cast<std::uint32_t>(frames.size());
        description.photometricInterpretation = label;
        pixels_ = MakePixelElement(frames);
      }

      std::string Check()
      {
        description.encapsulatedPixels = pixels_;
        return FindPixelDataFlaw(description);
      }

      ImageDescription description;

    private:
      std::string pixels_;
    };

    std::string Check(const char* transferSyntax, const char* label,
                      const std::vector<std::string>& frames)
    {
      return Image(transferSyntax, label, frames).Check();
    }
  }


  TEST(PixelDataFlawOfFrames, LossyJpegIsOfTheColoursOfItsLabel)
  {
    EXPECT_EQ("", Check(BASELINE, "YBR_FULL_422", {YCC}));
    EXPECT_EQ("", Check(BASELINE, "YBR_FULL", {YCC}));
    EXPECT_EQ("", Check(BASELINE, "RGB", {RGB}));
    EXPECT_EQ("", Check(BASELINE, "RGB", {Jpeg("", 0xc0, "RGB")}));
    EXPECT_EQ(COLORS, Check(BASELINE, "RGB", {YCC}));
    EXPECT_EQ(COLORS, Check(BASELINE, "RGB", {Jpeg(Adobe(1), 0xc0, NUMBERS)}));
    EXPECT_EQ(COLORS, Check(BASELINE, "RGB", {Jpeg("", 0xc0, NUMBERS)}));
    EXPECT_EQ(COLORS, Check(BASELINE, "YBR_FULL_422", {RGB}));
    EXPECT_EQ(COLORS, Check(BASELINE, "MONOCHROME2", {YCC}));
    EXPECT_EQ(COLORS, Check(BASELINE, "", {YCC}));
    EXPECT_EQ(COLORS, Check(LOSSLESS, "RGB", {YCC}));  // whatever the transfer syntax says
  }


  TEST(PixelDataFlawOfFrames, JpegLsOfFewerThanEightBitsIsReadInTwoWays)
  {
    for (const char* const syntax : {JPEG_LS, "1.2.840.10008.1.2.4.81"})
    {
      EXPECT_EQ("", Check(syntax, "RGB", {Jpeg("", 0xf7, NUMBERS, 8)}));
      EXPECT_EQ("JPEG-LS of fewer than 8 bits, which libraries misread",
                Check(syntax, "RGB", {Jpeg("", 0xf7, NUMBERS, 7)}));
    }

    EXPECT_EQ("", Check(LOSSLESS, "RGB", {Jpeg("", 0xc3, NUMBERS, 7)}));
  }


  TEST(PixelDataFlawOfFrames, FramesHaveAllBitsThatAreStored)
  {
    // Where the sign is, and what is white, some take from the frame, others from Bits Stored
    constexpr const char* FEWER = "a frame has fewer bits than Bits Stored";

    for (const std::uint16_t pixelRepresentation : {0, 1})
    {
      Image image(LOSSLESS, "MONOCHROME2", {Jpeg("", 0xc3, "\1", 12)});
      image.description.samplesPerPixel = 1;
      image.description.pixelRepresentation = pixelRepresentation;
      image.description.bitsAllocated = image.description.bitsStored = 16;
      EXPECT_EQ(FEWER, image.Check());
      image.description.bitsStored = 12;
      EXPECT_EQ("", image.Check());
      image.description.bitsStored = 10;
      EXPECT_EQ("", image.Check());
    }

    // Only JPEG 2000 says itself that it is signed, so that nobody can be in doubt
    std::string codestream = Jpeg2000(false);
    Image unsignedOne(JPEG_2000, "RGB", {codestream});
    codestream.replace(42, 1, "\x87").replace(45, 1, "\x87").replace(48, 1, "\x87");
    Image signedOne(JPEG_2000, "RGB", {codestream});

    for (Image* const each : {&unsignedOne, &signedOne})
    {
      each->description.bitsAllocated = each->description.bitsStored = 16;
      each->description.pixelRepresentation = 1;
    }

    EXPECT_EQ(FEWER, unsignedOne.Check());
    EXPECT_EQ("", signedOne.Check());
    signedOne.description.pixelRepresentation = 0;
    signedOne.description.bitsStored = 8;
    EXPECT_EQ("a frame is signed, and its data set is not", signedOne.Check());

    codestream.replace(42, 1, 1, '\0').replace(45, 1, 1, '\0').replace(48, 1, 1, '\0');
    EXPECT_EQ("a frame has samples of one bit", Check(JPEG_2000, "RGB", {codestream}));
  }


  TEST(PixelDataFlawOfFrames, LosslessJpegTransformsNoColours)
  {
    for (const char* label : {"RGB", "YBR_FULL"})
    {
      EXPECT_EQ("", Check(LOSSLESS, label, {Jpeg("", 0xc3, NUMBERS)})) << label;
      EXPECT_EQ("", Check(LOSSLESS, label, {Jpeg(Adobe(0), 0xc3, "RGB")})) << label;
      EXPECT_EQ("", Check(JPEG_LS, label, {Jpeg("", 0xf7, NUMBERS)})) << label;
    }

    EXPECT_EQ("", Check(LOSSLESS, "YBR_FULL", {Jpeg(JFIF, 0xc3, NUMBERS)}));
    EXPECT_EQ(COLORS, Check(LOSSLESS, "RGB", {Jpeg(JFIF, 0xc3, NUMBERS)}));
    EXPECT_EQ(COLORS, Check(LOSSLESS, "RGB", {Jpeg(JFIF, 0xc3, "RGB")}));
    EXPECT_EQ(COLORS, Check(LOSSLESS, "MONOCHROME2", {Jpeg("", 0xc3, NUMBERS)}));
    EXPECT_EQ(COLORS, Check(JPEG_LS, "PALETTE COLOR", {Jpeg("", 0xf7, NUMBERS)}));
  }


  TEST(PixelDataFlawOfFrames, Jpeg2000IsRgbWhereItsTransformIsUndone)
  {
    for (const char* label : {"RGB", "YBR_RCT", "YBR_ICT"})
    {
      EXPECT_EQ("", Check(JPEG_2000, label, {Jpeg2000(true)})) << label;
    }

    EXPECT_EQ("", Check(JPEG_2000, "RGB", {Jpeg2000(false)}));
    EXPECT_EQ("", Check(JPEG_2000, "YBR_FULL", {Jpeg2000(false)}));
    EXPECT_EQ(COLORS, Check(JPEG_2000, "YBR_FULL", {Jpeg2000(true)}));
    EXPECT_EQ(COLORS, Check(JPEG_2000, "YBR_RCT", {Jpeg2000(false)}));
    EXPECT_EQ(COLORS, Check(JPEG_2000, "MONOCHROME2", {Jpeg2000(false)}));
  }


  TEST(PixelDataFlawOfFrames, FramesAreOfTheSizeThatIsDescribed)
  {
    const auto check = [](std::uint16_t ImageDescription::*attribute, std::uint16_t value)
    {
      Image image(BASELINE, "YBR_FULL_422", {YCC});
      image.description.*attribute = value;
      return image.Check();
    };

    EXPECT_EQ(SHAPE, check(&ImageDescription::rows, 4));
    EXPECT_EQ(SHAPE, check(&ImageDescription::columns, 3));
    EXPECT_EQ(SHAPE, check(&ImageDescription::samplesPerPixel, 1));
    EXPECT_EQ("a frame has more bits than Bits Allocated",
              Check(BASELINE, "RGB", {Jpeg("", 0xc1, "RGB", 12)}));
  }


  TEST(PixelDataFlawOfFrames, SomeLabelsAreNotForCompressedPixels)
  {
    EXPECT_EQ(COLORS, Check(BASELINE, "YBR_PARTIAL_422", {YCC}));
    EXPECT_EQ("", Check(BASELINE, "YBR_FULL", {YCC}));

    Image grey(BASELINE, "RGB", {Jpeg("", 0xc0, "\1")});
    grey.description.samplesPerPixel = 1;
    EXPECT_EQ(COLORS, grey.Check());
    grey.description.photometricInterpretation = "MONOCHROME2";
    EXPECT_EQ("", grey.Check());
    grey.description.bitsAllocated = 32;
    EXPECT_EQ("compressed, and Bits Allocated is neither 8 nor 16", grey.Check());

    EXPECT_EQ("RLE with subsampled colours is not defined", Check(RLE, "YBR_FULL_422", {"any"}));
  }


  TEST(PixelDataFlawOfFrames, FramesAreOfOneKind)
  {
    EXPECT_EQ("", Check(BASELINE, "YBR_FULL_422", {YCC, Jpeg("", 0xc0, NUMBERS), YCC}));
    EXPECT_EQ(COLORS, Check(BASELINE, "YBR_FULL_422", {YCC, RGB}));
    EXPECT_EQ("the frames differ in their bits or colours",
              Check(JPEG_2000, "RGB", {Jpeg2000(true), Jpeg2000(false)}));

    Image image(LOSSLESS, "RGB", {Jpeg("", 0xc3, NUMBERS, 12), Jpeg("", 0xc3, NUMBERS, 10)});
    image.description.bitsAllocated = 16;
    EXPECT_EQ("the frames differ in their bits or colours", image.Check());
  }


  TEST(PixelDataFlawOfFrames, AHeaderMayReachIntoTheNextFragment)
  {
    Image image(BASELINE, "RGB", {YCC.substr(0, 10), YCC.substr(10)});
    image.description.frames = 1;
    EXPECT_EQ(COLORS, image.Check());
    image.description.photometricInterpretation = "YBR_FULL";
    EXPECT_EQ("", image.Check());
  }


  TEST(PixelDataFlawOfFrames, WhatCantBeReadIsNamed)
  {
    EXPECT_EQ("A frame is no JPEG stream", Check(BASELINE, "YBR_FULL", {"nonsense"}));
    EXPECT_EQ("The coding process of a JPEG frame is not covered",
              Check(BASELINE, "YBR_FULL", {Jpeg("", 0xc9, NUMBERS)}));
  }
}
