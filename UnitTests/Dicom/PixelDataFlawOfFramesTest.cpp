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

  TEST(PixelDataFlawOfFrames, AFrameHasTheColoursOfItsLabelAndIsLikeTheOthers)
  {
    constexpr const char* DIFFERENT = "the frames differ in their bits or colours";
    const std::string lossless = Jpeg("", 0xc3, NUMBERS);
    const std::string jpegLs = Jpeg("", 0xf7, NUMBERS);
    const struct
    {
      const char* name;
      const char* transferSyntax;
      const char* label;
      std::vector<std::string> frames;
      const char* expected;
    } cases[] = {
        {"YCbCr, 4:2:2", BASELINE, "YBR_FULL_422", {YCC}, ""},
        {"YCbCr", BASELINE, "YBR_FULL", {YCC}, ""},
        {"RGB by Adobe", BASELINE, "RGB", {RGB}, ""},
        {"RGB by its components", BASELINE, "RGB", {Jpeg("", 0xc0, "RGB")}, ""},
        {"YCbCr of JFIF as RGB", BASELINE, "RGB", {YCC}, COLORS},
        {"YCbCr by Adobe as RGB", BASELINE, "RGB", {Jpeg(Adobe(1), 0xc0, NUMBERS)}, COLORS},
        {"YCbCr by default as RGB", BASELINE, "RGB", {Jpeg("", 0xc0, NUMBERS)}, COLORS},
        {"RGB as YCbCr", BASELINE, "YBR_FULL_422", {RGB}, COLORS},
        {"YCbCr as grey", BASELINE, "MONOCHROME2", {YCC}, COLORS},
        {"YCbCr as nothing", BASELINE, "", {YCC}, COLORS},
        {"a label that is not for JPEG", BASELINE, "YBR_PARTIAL_422", {YCC}, COLORS},
        {"lossy JPEG in a lossless syntax", LOSSLESS, "RGB", {YCC}, COLORS},
        {"lossless RGB", LOSSLESS, "RGB", {lossless}, ""},
        {"lossless RGB twice", LOSSLESS, "RGB", {Jpeg(Adobe(0), 0xc3, "RGB")}, ""},
        {"JPEG-LS as RGB", JPEG_LS, "RGB", {jpegLs}, ""},
        {"lossless YCbCr", LOSSLESS, "YBR_FULL", {lossless}, ""},
        {"lossless RGB as YCbCr", LOSSLESS, "YBR_FULL", {Jpeg(Adobe(0), 0xc3, "RGB")}, ""},
        {"JPEG-LS as YCbCr", JPEG_LS, "YBR_FULL", {jpegLs}, ""},
        {"lossless JFIF", LOSSLESS, "YBR_FULL", {Jpeg(JFIF, 0xc3, NUMBERS)}, ""},
        {"lossless JFIF as RGB", LOSSLESS, "RGB", {Jpeg(JFIF, 0xc3, NUMBERS)}, COLORS},
        {"JFIF with components of RGB", LOSSLESS, "RGB", {Jpeg(JFIF, 0xc3, "RGB")}, COLORS},
        {"lossless colours as grey", LOSSLESS, "MONOCHROME2", {lossless}, COLORS},
        {"JPEG-LS as indices", JPEG_LS, "PALETTE COLOR", {jpegLs}, COLORS},
        {"JPEG 2000 as RGB", JPEG_2000, "RGB", {Jpeg2000(true)}, ""},
        {"JPEG 2000 as RCT", JPEG_2000, "YBR_RCT", {Jpeg2000(true)}, ""},
        {"JPEG 2000 as ICT", JPEG_2000, "YBR_ICT", {Jpeg2000(true)}, ""},
        {"untransformed RGB", JPEG_2000, "RGB", {Jpeg2000(false)}, ""},
        {"untransformed YCbCr", JPEG_2000, "YBR_FULL", {Jpeg2000(false)}, ""},
        {"transformed YCbCr", JPEG_2000, "YBR_FULL", {Jpeg2000(true)}, COLORS},
        {"untransformed RCT", JPEG_2000, "YBR_RCT", {Jpeg2000(false)}, COLORS},
        {"JPEG 2000 as grey", JPEG_2000, "MONOCHROME2", {Jpeg2000(false)}, COLORS},
        {"YCbCr said in two ways",
         BASELINE,
         "YBR_FULL_422",
         {YCC, Jpeg("", 0xc0, NUMBERS), YCC},
         ""},
        {"YCbCr and RGB", BASELINE, "YBR_FULL_422", {YCC, RGB}, COLORS},
        {"two transforms", JPEG_2000, "RGB", {Jpeg2000(true), Jpeg2000(false)}, DIFFERENT},
        {"subsampled RLE",
         RLE,
         "YBR_FULL_422",
         {"any"},
         "RLE with subsampled colours is not defined"},
        {"text", BASELINE, "YBR_FULL", {"nonsense"}, "A frame is no JPEG stream"},
        {"arithmetic coding",
         BASELINE,
         "YBR_FULL",
         {Jpeg("", 0xc9, NUMBERS)},
         "The coding process of a JPEG frame is not covered"}};

    for (const auto& one : cases)
    {
      EXPECT_EQ(one.expected, Check(one.transferSyntax, one.label, one.frames)) << one.name;
    }

    Image image(LOSSLESS, "RGB", {Jpeg("", 0xc3, NUMBERS, 12), Jpeg("", 0xc3, NUMBERS, 10)});
    image.description.bitsAllocated = 16;
    EXPECT_EQ(DIFFERENT, image.Check());
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

  TEST(PixelDataFlawOfFrames, GreyIsNoRgbAndHasEightOrSixteenBits)
  {
    Image grey(BASELINE, "RGB", {Jpeg("", 0xc0, "\1")});
    grey.description.samplesPerPixel = 1;
    EXPECT_EQ(COLORS, grey.Check());
    grey.description.photometricInterpretation = "MONOCHROME2";
    EXPECT_EQ("", grey.Check());
    grey.description.bitsAllocated = 32;
    EXPECT_EQ("compressed, and Bits Allocated is neither 8 nor 16", grey.Check());
  }

  TEST(PixelDataFlawOfFrames, AHeaderMayReachIntoTheNextFragment)
  {
    Image image(BASELINE, "RGB", {YCC.substr(0, 10), YCC.substr(10)});
    image.description.frames = 1;
    EXPECT_EQ(COLORS, image.Check());
    image.description.photometricInterpretation = "YBR_FULL";
    EXPECT_EQ("", image.Check());
  }
}
