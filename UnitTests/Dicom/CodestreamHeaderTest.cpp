// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/CodestreamHeader.h"

#include "Dicom/CodecError.h"
#include "Dicom/PixelDataFlaw.h"
#include "Dicom/PixelElement.h"

#include <gtest/gtest.h>
#include <string>
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

    std::string Bytes(std::initializer_list<int> values)
    {
      return {values.begin(), values.end()};
    }

    const std::string BEGIN = Bytes({0xff, 0xd8});
    const std::string SCAN = Bytes({0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0});
    const std::string END = Bytes({0xff, 0xd9});
    const std::string JFIF =
        Bytes({0xff, 0xe0, 0, 16}) + "JFIF" + std::string("\0\1\2", 3) + std::string(7, '\0');

    std::string Adobe(int transform)
    {
      return Bytes({0xff, 0xee, 0, 14}) + "Adobe" + std::string(6, '\0') + Bytes({transform});
    }

    // The header of 3 rows and 258 columns; a component for each identifier
    std::string Frame(int marker, const std::string& identifiers, int precision = 12)
    {
      const int components = static_cast<int>(identifiers.size());
      std::string segment =
          Bytes({0xff, marker, 0, 8 + 3 * components, precision, 0, 3, 1, 2, components});

      for (const char identifier : identifiers)
      {
        segment += identifier + Bytes({0x11, 0});
      }

      return segment;
    }

    std::string Stream(const std::string& segments)
    {
      return BEGIN + segments + SCAN + END;
    }

    // Of 8 bits
    std::string Jpeg(const std::string& markers, int process, const std::string& identifiers,
                     int precision = 8)
    {
      return Stream(markers + Frame(process, identifiers, precision));
    }

    // A part of a tile of a JPEG 2000 codestream. "length" is what it says of itself: its header
    // has 14 bytes.
    std::string Tile(int length, const std::string& data, int index = 0, int part = 0,
                     int parts = 1)
    {
      return Bytes({0xff, 0x90, 0, 10, 0, index, 0, 0, 0, length, part, parts, 0xff, 0x93}) + data;
    }

    const std::string TILE = Tile(15, "x");

    // ITU-T T.800 annex A: an image of 258 × 3 with an offset of 2 × 1
    struct Wavelets
    {
      int components = 3;
      int depth = 0x80 | 11;  // 12 bits, signed
      bool isTransformed = true;
      std::string tiles = TILE;
      int subsampling = 1;
    };

    std::string Jpeg2000(const Wavelets& image)
    {
      std::string size = Bytes({0xff, 0x51, 0, 38 + 3 * image.components,
                                0,    0,    0, 0,
                                1,    4,    0, 0,
                                0,    4,    0, 0,
                                0,    2,    0, 0,
                                0,    1,    0, 0,
                                1,    4,    0, 0,
                                0,    4,    0, 0,
                                0,    0,    0, 0,
                                0,    0,    0, image.components});

      for (int i = 0; i < image.components; i++)
      {
        size += Bytes({image.depth, i == 1 ? image.subsampling : 1, 1});
      }

      return Bytes({0xff, 0x4f}) + size +
             Bytes({0xff, 0x52, 0, 12, 0, 0, 0, 1, image.isTransformed ? 1 : 0, 5, 4, 4, 0, 1}) +
             image.tiles + END;
    }

    // Of 8 bits, three components
    std::string Jpeg2000(bool isTransformed, int depth = 7)
    {
      return Jpeg2000({3, depth, isTransformed});
    }

    constexpr const char* COLORS = "a frame has other colours than Photometric Interpretation says";
    constexpr const char* SHAPE =
        "a frame has other Rows, Columns or Samples per Pixel than its data set says";

    // "expected": a part of the error, whose begin names its kind. Empty: the frame is read.
    struct Case
    {
      const char* name;
      std::string frame;
      const char* expected;
    };

    constexpr const char* READ = "";
    constexpr const char* MALFORMED = "malformed: ";
    constexpr const char* NOT_COVERED = "not covered: ";

    std::string Judge(CodestreamKind kind, const std::string& frame)
    {
      try
      {
        ReadCodestreamHeader(kind, frame);
        return READ;
      }
      catch (const CodecError& error)
      {
        return std::string(MALFORMED) + error.what();
      }
      catch (const NotCovered& error)
      {
        return std::string(NOT_COVERED) + error.what();
      }
    }

    void ExpectJudged(CodestreamKind kind, const std::vector<Case>& cases)
    {
      for (const Case& one : cases)
      {
        const std::string error = Judge(kind, one.frame);
        EXPECT_EQ(error.empty(), std::string(one.expected).empty()) << one.name << ": " << error;
        EXPECT_NE(error.find(one.expected), std::string::npos) << one.name << ": " << error;
      }
    }

    const std::string NUMBERS = "\1\2\3";
    const std::string YCC = Jpeg(JFIF, 0xc0, NUMBERS);
    const std::string RGB = Jpeg(Adobe(0), 0xc0, NUMBERS);

    // What a data set says of three samples of 8 bits, and its frames
    class Image
    {
    public:
      Image(const char* transferSyntax, const char* label, const std::vector<std::string>& frames)
      {
        description.transferSyntax = transferSyntax;
        description.kind = PixelDataKind::Encapsulated;
        description.rows = 3;
        description.columns = 258;
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

  TEST(CodestreamHeader, SaysWhatTheFrameIs)
  {
    const CodestreamHeader jpeg = ReadCodestreamHeader(
        CodestreamKind::Jpeg, BEGIN + "\xff\xff" + Frame(0xc3, "\1") + SCAN + END);  // fill bytes
    EXPECT_EQ(jpeg.height, 3);
    EXPECT_EQ(jpeg.width, 258);
    EXPECT_EQ(jpeg.components, 1);
    EXPECT_EQ(jpeg.precision, 12);
    EXPECT_TRUE(jpeg.isLossless);
    EXPECT_FALSE(ReadCodestreamHeader(CodestreamKind::Jpeg, BEGIN + Frame(0xc1, "\1") + SCAN + END)
                     .isLossless);

    std::string scan = SCAN;
    const std::string jpegLs = BEGIN + Frame(0xf7, "\1");
    EXPECT_EQ(ReadCodestreamHeader(CodestreamKind::JpegLs, jpegLs + scan + END).width, 258);
    EXPECT_TRUE(ReadCodestreamHeader(CodestreamKind::JpegLs, jpegLs + scan + END).isLossless);
    scan[7] = '\2';
    EXPECT_FALSE(ReadCodestreamHeader(CodestreamKind::JpegLs, jpegLs + scan + END).isLossless);

    const CodestreamHeader wavelets =
        ReadCodestreamHeader(CodestreamKind::Jpeg2000, Jpeg2000(Wavelets()));
    EXPECT_EQ(wavelets.height, 3);
    EXPECT_EQ(wavelets.width, 258);
    EXPECT_EQ(wavelets.components, 3);
    EXPECT_EQ(wavelets.precision, 12);
    EXPECT_TRUE(wavelets.isSigned && wavelets.isLossless && wavelets.isColorTransformed);
  }

  TEST(CodestreamHeader, OfJpegIsReadOrRefused)
  {
    const std::string frame = Frame(0xc0, "\1");
    const std::string colours = Frame(0xc0, NUMBERS);
    const std::string picture = Bytes({0xff, 0xe0, 0, 6}) + BEGIN + END;
    const std::string data = BEGIN + SCAN + "xy" + END;
    std::string newJfif = JFIF;
    newJfif[9] = '\2';
    ExpectJudged(CodestreamKind::Jpeg,
                 {{"a picture in an application segment", Stream(picture), READ},
                  {"text between segments", Stream("x" + frame), MALFORMED},
                  {"no begin", frame + SCAN + END, MALFORMED},
                  {"a restart before the frame", Stream(Bytes({0xff, 0xd0}) + frame), MALFORMED},
                  {"another begin", BEGIN + SCAN + "cut" + data, "The end of a frame is missing"},
                  {"arithmetic coding", Stream(Frame(0xc9, "\1")), NOT_COVERED},
                  {"an unknown transform", Stream(Adobe(2) + colours), NOT_COVERED},
                  {"JFIF of RGB", Stream(JFIF + Frame(0xc0, "RGB")), NOT_COVERED},
                  {"JFIF and Adobe", Stream(JFIF + Adobe(0) + colours), NOT_COVERED},
                  {"JFIF 2", Stream(newJfif + colours), NOT_COVERED}});
  }

  // ITU-T T.81 section H.1.1
  TEST(CodestreamHeader, OfLosslessJpegWithRestartsOfSeveralLinesIsNotCovered)
  {
    const std::string restarts = Bytes({0xff, 0xdd, 0, 4, 1, 2});
    const std::string none = Bytes({0xff, 0xdd, 0, 4, 0, 0});
    const auto find = [](const std::string& segments)
    {
      return Judge(CodestreamKind::Jpeg, Stream(segments));
    };

    for (const int sampling : {0x11, 0x21, 0x12, 0x22})
    {
      for (const int marker : {0xc1, 0xc3})
      {
        std::string frame = Frame(marker, "\1");
        frame[frame.size() - 2] = static_cast<char>(sampling);
        EXPECT_EQ(find(restarts + frame).empty(), marker != 0xc3 || (sampling & 15) == 1)
            << sampling;
        EXPECT_EQ(find(none + frame), "");
      }
    }
  }

  // ITU-T T.87 annex C; the frame has 12 bits
  TEST(CodestreamHeader, OfJpegLsIsReadOrRefused)
  {
    const std::string frame = Frame(0xf7, "\1");
    const auto make = [&](const std::string& segments, const std::string& scan = SCAN)
    {
      return BEGIN + segments + frame + scan + END;
    };
    const auto parameters = [&](int high, int low, int reset = 64)
    {
      return make(Bytes({0xff, 0xf8, 0, 13, 1, high, low, 0, 18, 0, 67, 1, 20, 0, reset}));
    };
    const auto change = [](std::string segment, std::size_t place, int by)
    {
      segment[place] = static_cast<char>(segment[place] + by);
      return segment;
    };
    const std::string transformed = change(SCAN, 9, 1);
    const std::string colors = Bytes({0xff, 0xe8, 0, 7}) + "mrfx";
    ExpectJudged(
        CodestreamKind::JpegLs,
        {{"padded", make("") + '\0', READ},
         {"the usual MAXVAL", parameters(0x0f, 0xff), READ},
         {"no MAXVAL", parameters(0, 0), READ},
         {"another MAXVAL", parameters(0x0f, 0xfe), NOT_COVERED},
         {"no RESET", parameters(0, 0, 0), READ},
         {"another RESET", parameters(0, 0, 0x41), NOT_COVERED},
         {"a mapping table", make("", change(SCAN, 6, 1)), NOT_COVERED},
         {"a point transform", make("", transformed), NOT_COVERED},
         {"one of another scan", make("", SCAN + transformed), NOT_COVERED},
         {"no colour transform", make(colors + '\0'), READ},
         {"a colour transform", make(colors + '\1'), NOT_COVERED},
         {"no end", BEGIN + frame + SCAN, MALFORMED},
         {"two frame headers", make(frame), MALFORMED},
         {"a longer frame header", BEGIN + change(frame + '\0', 3, 1) + SCAN + END, MALFORMED},
         {"a shorter scan header", make("", change(SCAN, 3, -1)), MALFORMED}});
  }

  // ITU-T T.800 sections A.4.2 and B.3
  TEST(CodestreamHeader, OfJpeg2000HasEachPartOfEachTile)
  {
    const auto make = [](const std::string& tiles)
    {
      return Jpeg2000({1, 7, true, tiles});
    };
    const auto makeTwo = [&](const std::string& tiles)
    {
      return make(tiles).replace(26, 2, std::string("\0\xc8", 2));  // a tile is 200 wide
    };
    const std::string second = Tile(15, "x", 1);
    const std::string size = make(TILE).substr(2, 43);
    const std::string comment = Bytes({0xff, 0x64, 0, 6}) + "text";
    const std::string withComment = Tile(23, "").insert(12, comment) + "x";  // in front of SOD
    ExpectJudged(
        CodestreamKind::Jpeg2000,
        {{"both tiles", makeTwo(TILE + second), READ},
         {"in another order", makeTwo(second + TILE), READ},
         {"two image sizes", make(TILE).insert(2, size), "A JPEG 2000 frame has two image sizes"},
         {"the first tile only", makeTwo(TILE), MALFORMED},
         {"the second tile only", makeTwo(second), MALFORMED},
         {"a third tile", makeTwo(TILE + second + Tile(15, "x", 2)), MALFORMED},
         {"a second tile of one", make(TILE + second), MALFORMED},
         {"two parts", make(Tile(15, "x", 0, 0, 2) + Tile(15, "y", 0, 1, 2)), READ},
         {"their number told late", make(Tile(15, "x", 0, 0, 0) + Tile(15, "y", 0, 1, 2)), READ},
         {"their number not told", make(Tile(15, "x", 0, 0, 0) + Tile(15, "y", 0, 1, 0)), READ},
         {"an empty part", make(Tile(15, "x", 0, 0, 2) + Tile(14, "", 0, 1, 2)), READ},
         {"a comment", make(withComment), READ},
         {"the first part only", make(Tile(15, "x", 0, 0, 2)), MALFORMED},
         {"the second part only", make(Tile(15, "x", 0, 1, 2)), MALFORMED},
         {"a tile twice", make(TILE + TILE), MALFORMED},
         {"an empty tile", make(Tile(14, "")), MALFORMED},
         {"an empty tile to the end", make(Tile(0, "")), MALFORMED},
         {"no part between", make(Tile(15, "x", 0, 0, 3) + Tile(15, "x", 0, 2, 3)), MALFORMED},
         {"empty parts only", make(Tile(14, "", 0, 0, 2) + Tile(14, "", 0, 1, 2)), MALFORMED},
         {"a tile without header", make(Tile(11, "x")), "A tile of a JPEG 2000 frame is cut off"},
         {"a long tile", make(Tile(255, "x")), "The end of a frame is missing"},
         {"subsampled components", Jpeg2000({3, 7, true, TILE, 2}), NOT_COVERED}});
  }

  TEST(CodestreamHeader, IsOfAWholeCodestreamWithNothingButPaddingBehind)
  {
    // Stuffed zeros, a restart, fill bytes, and one more scan
    const std::string jpeg = BEGIN + JFIF + Frame(0xc0, NUMBERS) + SCAN +
                             Bytes({1, 0xff, 0, 2, 0xff, 0xd0, 3, 0xff, 0xff}) + SCAN + "x" + END;
    const std::string inData = Bytes({0xff, 0x7f, 0xff, 0x01});
    const std::pair<CodestreamKind, std::string> streams[] = {
        {CodestreamKind::Jpeg, jpeg},
        {CodestreamKind::JpegLs, BEGIN + Frame(0xf7, "\1") + SCAN + inData + END},
        {CodestreamKind::Jpeg2000, Jpeg2000({1, 7, true, Tile(16, END)})},  // counted, not read
        {CodestreamKind::Jpeg2000, Jpeg2000({1, 7, true, Tile(0, Bytes({1, 0xff, 0x8f, 2}))})}};

    for (const auto& [kind, stream] : streams)
    {
      for (std::size_t i = 0; i < stream.size(); i++)
      {
        EXPECT_THROW(ReadCodestreamHeader(kind, stream.substr(0, i)), CodecError) << i;
      }

      for (const char* const padding : {"", "x", "\xff\xff\xff"})
      {
        EXPECT_NO_THROW(ReadCodestreamHeader(kind, stream + padding)) << padding;
      }

      for (const std::string& more : {stream, std::string("more"), std::string("\xd9")})
      {
        EXPECT_EQ("malformed: Something follows the end of a frame", Judge(kind, stream + more));
      }
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
    Image unsignedOne(JPEG_2000, "RGB", {Jpeg2000(false)});
    Image signedOne(JPEG_2000, "RGB", {Jpeg2000(false, 0x87)});

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
    EXPECT_EQ("a frame has samples of one bit", Check(JPEG_2000, "RGB", {Jpeg2000(false, 0)}));
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
    Image grey(BASELINE, "RGB", {Jpeg(JFIF, 0xc0, "\1")});
    grey.description.samplesPerPixel = 1;
    EXPECT_EQ(COLORS, grey.Check());
    grey.description.photometricInterpretation = "MONOCHROME2";
    EXPECT_EQ("", grey.Check());
    grey.description.bitsAllocated = 32;
    EXPECT_EQ("compressed, and Bits Allocated is neither 8 nor 16", grey.Check());

    Image both(LOSSLESS, "MONOCHROME2", {Jpeg(JFIF, 0xc3, "\1"), Jpeg("", 0xc3, "\1")});
    both.description.samplesPerPixel = 1;
    EXPECT_EQ("", both.Check());
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
