// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/CodestreamHeader.h"

#include "Dicom/CodecError.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    using Colors = CodestreamHeader::Colors;

    std::string Bytes(std::initializer_list<int> values)
    {
      return {values.begin(), values.end()};
    }

    const std::string BEGIN = Bytes({0xff, 0xd8});
    const std::string SCAN = Bytes({0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0});
    const std::string END = Bytes({0xff, 0xd9});

    // A part of a tile of a JPEG 2000 codestream. "length" is what it says of itself: its header
    // has 14 bytes.
    std::string Tile(int length, const std::string& data, int index = 0, int part = 0,
                     int parts = 1)
    {
      return Bytes({0xff, 0x90, 0, 10, 0, index, 0, 0, 0, length, part, parts, 0xff, 0x93}) + data;
    }

    const std::string TILE = Tile(15, "x");

    // 12 bits, 3 rows, 258 columns
    std::string Frame(int marker, std::initializer_list<int> components)
    {
      std::string segment = Bytes({0xff, marker, 0, 8, 12, 0, 3, 1, 2});
      segment[3] = static_cast<char>(8 + 3 * components.size());
      segment.push_back(static_cast<char>(components.size()));

      for (const int component : components)
      {
        segment += Bytes({component, 0x11, 0});
      }

      return segment;
    }

    const std::string JFIF =
        Bytes({0xff, 0xe0, 0, 16}) + "JFIF" + std::string("\0\1\2", 3) + std::string(7, '\0');
    const std::string ADOBE = Bytes({0xff, 0xee, 0, 14}) + "Adobe" + std::string(6, '\0');

    Colors ReadColors(const std::string& segments)
    {
      return ReadCodestreamHeader(CodestreamKind::Jpeg, BEGIN + segments + SCAN + END).colors;
    }

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
    // ITU-T T.800 annex A: an image of 258 × 3 with an offset of 2 × 1, 12 bits signed
    std::string MakeJpeg2000(int components, int subsampling = 1, const std::string& tiles = TILE)
    {
      std::string size = Bytes({0xff, 0x51, 0, 38 + 3 * components,
                                0,    0,    0, 0,
                                1,    4,    0, 0,
                                0,    4,    0, 0,
                                0,    2,    0, 0,
                                0,    1,    0, 0,
                                1,    4,    0, 0,
                                0,    4,    0, 0,
                                0,    0,    0, 0,
                                0,    0,    0, components});

      for (int i = 0; i < components; i++)
      {
        size += Bytes({0x80 | 11, i == 1 ? subsampling : 1, 1});
      }

      return Bytes({0xff, 0x4f}) + size + Bytes({0xff, 0x52, 0, 12, 0, 0, 0, 1, 1, 5, 4, 4, 0, 1}) +
             tiles + END;
    }
  }

  TEST(CodestreamHeader, SaysWhatTheFrameIs)
  {
    const CodestreamHeader jpeg = ReadCodestreamHeader(
        CodestreamKind::Jpeg, BEGIN + "\xff\xff" + Frame(0xc3, {1}) + SCAN + END);  // fill bytes
    EXPECT_EQ(jpeg.height, 3);
    EXPECT_EQ(jpeg.width, 258);
    EXPECT_EQ(jpeg.components, 1);
    EXPECT_EQ(jpeg.precision, 12);
    EXPECT_TRUE(jpeg.isLossless);
    EXPECT_FALSE(ReadCodestreamHeader(CodestreamKind::Jpeg, BEGIN + Frame(0xc1, {1}) + SCAN + END)
                     .isLossless);

    std::string scan = SCAN;
    const std::string jpegLs = BEGIN + Frame(0xf7, {1});
    EXPECT_EQ(ReadCodestreamHeader(CodestreamKind::JpegLs, jpegLs + scan + END).width, 258);
    EXPECT_TRUE(ReadCodestreamHeader(CodestreamKind::JpegLs, jpegLs + scan + END).isLossless);
    scan[7] = '\2';
    EXPECT_FALSE(ReadCodestreamHeader(CodestreamKind::JpegLs, jpegLs + scan + END).isLossless);

    const CodestreamHeader wavelets =
        ReadCodestreamHeader(CodestreamKind::Jpeg2000, MakeJpeg2000(3));
    EXPECT_EQ(wavelets.height, 3);
    EXPECT_EQ(wavelets.width, 258);
    EXPECT_EQ(wavelets.components, 3);
    EXPECT_EQ(wavelets.precision, 12);
    EXPECT_TRUE(wavelets.isSigned && wavelets.isLossless && wavelets.isColorTransformed);
  }

  TEST(CodestreamHeader, OfJpegSaysWhatTheColorsAre)
  {
    const std::string frame = Frame(0xc0, {1, 2, 3});
    EXPECT_EQ(ReadColors(frame), Colors::Ycc);
    EXPECT_EQ(ReadColors(Frame(0xc3, {'R', 'G', 'B'})), Colors::Unspecified);
    EXPECT_EQ(ReadColors(JFIF + Frame(0xc0, {1})), Colors::Unspecified);
    EXPECT_EQ(ReadColors(JFIF + frame), Colors::Ycc);
    EXPECT_EQ(ReadColors(ADOBE + std::string(1, '\0') + frame), Colors::Rgb);
    EXPECT_EQ(ReadColors(ADOBE + std::string(1, '\1') + frame), Colors::Ycc);
    EXPECT_EQ(ReadColors(Frame(0xc0, {'R', 'G', 'B'})), Colors::Rgb);
  }

  TEST(CodestreamHeader, OfJpegIsReadOrRefused)
  {
    const auto make = [](const std::string& segments)
    {
      return BEGIN + segments + SCAN + END;
    };
    const std::string frame = Frame(0xc0, {1});
    const std::string colours = Frame(0xc0, {1, 2, 3});
    const std::string picture = Bytes({0xff, 0xe0, 0, 6}) + BEGIN + END;
    const std::string data = BEGIN + SCAN + "xy" + END;
    std::string newJfif = JFIF;
    newJfif[9] = '\2';
    ExpectJudged(CodestreamKind::Jpeg,
                 {{"a picture in an application segment", make(picture), READ},
                  {"text between segments", make("x" + frame), MALFORMED},
                  {"no begin", frame + SCAN + END, MALFORMED},
                  {"a restart before the frame", make(Bytes({0xff, 0xd0}) + frame), MALFORMED},
                  {"another begin", BEGIN + SCAN + "cut" + data, "The end of a frame is missing"},
                  {"arithmetic coding", make(Frame(0xc9, {1})), NOT_COVERED},
                  {"an unknown transform", make(ADOBE + '\2' + colours), NOT_COVERED},
                  {"JFIF of RGB", make(JFIF + Frame(0xc0, {'R', 'G', 'B'})), NOT_COVERED},
                  {"JFIF and Adobe", make(JFIF + ADOBE + '\0' + colours), NOT_COVERED},
                  {"JFIF 2", make(newJfif + colours), NOT_COVERED}});
  }

  // ITU-T T.81 section H.1.1
  TEST(CodestreamHeader, OfLosslessJpegWithRestartsOfSeveralLinesIsNotCovered)
  {
    const std::string restarts = Bytes({0xff, 0xdd, 0, 4, 1, 2});
    const std::string none = Bytes({0xff, 0xdd, 0, 4, 0, 0});
    const auto find = [](const std::string& segments)
    {
      return Judge(CodestreamKind::Jpeg, BEGIN + segments + SCAN + END);
    };

    for (const int sampling : {0x11, 0x21, 0x12, 0x22})
    {
      for (const int marker : {0xc1, 0xc3})
      {
        std::string frame = Frame(marker, {1});
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
    const std::string frame = Frame(0xf7, {1});
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
      return MakeJpeg2000(1, 1, tiles);
    };
    const auto makeTwo = [&](const std::string& tiles)
    {
      return make(tiles).replace(26, 2, std::string("\0\xc8", 2));  // a tile is 200 wide
    };
    const std::string second = Tile(15, "x", 1);
    const std::string comment = Bytes({0xff, 0x64, 0, 6}) + "text";
    const std::string withComment = Tile(23, "").insert(12, comment) + "x";  // in front of SOD
    ExpectJudged(
        CodestreamKind::Jpeg2000,
        {{"both tiles", makeTwo(TILE + second), READ},
         {"in another order", makeTwo(second + TILE), READ},
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
         {"subsampled components", MakeJpeg2000(3, 2), NOT_COVERED}});
  }

  TEST(CodestreamHeader, IsOfAWholeCodestreamWithNothingButPaddingBehind)
  {
    // Stuffed zeros, a restart, fill bytes, and one more scan
    const std::string jpeg = BEGIN + JFIF + Frame(0xc0, {1, 2, 3}) + SCAN +
                             Bytes({1, 0xff, 0, 2, 0xff, 0xd0, 3, 0xff, 0xff}) + SCAN + "x" + END;
    const std::string inData = Bytes({0xff, 0x7f, 0xff, 0x01});
    const std::pair<CodestreamKind, std::string> streams[] = {
        {CodestreamKind::Jpeg, jpeg},
        {CodestreamKind::JpegLs, BEGIN + Frame(0xf7, {1}) + SCAN + inData + END},
        {CodestreamKind::Jpeg2000, MakeJpeg2000(1, 1, Tile(16, END))},  // counted, not read
        {CodestreamKind::Jpeg2000, MakeJpeg2000(1, 1, Tile(0, Bytes({1, 0xff, 0x8f, 2})))}};

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
}
