// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/CodestreamHeader.h"

#include "Dicom/CodecError.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>
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

    std::string FindError(CodestreamKind kind, const std::string& frame)
    {
      try
      {
        ReadCodestreamHeader(kind, frame);
        return "";
      }
      catch (const std::runtime_error& error)
      {
        return error.what();
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


  TEST(CodestreamHeader, OfJpegIsRead)
  {
    const CodestreamHeader header =
        ReadCodestreamHeader(CodestreamKind::Jpeg, BEGIN + Frame(0xc3, {1}) + SCAN + END);
    EXPECT_EQ(header.height, 3);
    EXPECT_EQ(header.width, 258);
    EXPECT_EQ(header.components, 1);
    EXPECT_EQ(header.precision, 12);
    EXPECT_TRUE(header.isLossless);
    EXPECT_FALSE(ReadCodestreamHeader(CodestreamKind::Jpeg, BEGIN + Frame(0xc1, {1}) + SCAN + END)
                     .isLossless);
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


  TEST(CodestreamHeader, OfJpegMayHaveFillBytes)
  {
    EXPECT_EQ(ReadCodestreamHeader(CodestreamKind::Jpeg,
                                   BEGIN + "\xff\xff" + Frame(0xc0, {1}) + SCAN + END)
                  .height,
              3);
  }


  TEST(CodestreamHeader, OfJpegWithSomethingElseIsRefused)
  {
    EXPECT_THROW(
        ReadCodestreamHeader(CodestreamKind::Jpeg, BEGIN + "x" + Frame(0xc0, {1}) + SCAN + END),
        CodecError);
    EXPECT_THROW(ReadCodestreamHeader(CodestreamKind::Jpeg, Frame(0xc0, {1}) + SCAN + END),
                 CodecError);
    EXPECT_THROW(ReadCodestreamHeader(CodestreamKind::Jpeg,
                                      BEGIN + Bytes({0xff, 0xd0}) + Frame(0xc0, {1}) + SCAN + END),
                 CodecError);
    EXPECT_THROW(ReadCodestreamHeader(CodestreamKind::Jpeg, BEGIN + Frame(0xc9, {1}) + SCAN + END),
                 NotCovered);
    EXPECT_THROW(ReadColors(ADOBE + std::string(1, '\2') + Frame(0xc0, {1, 2, 3})), NotCovered);

    EXPECT_THROW(ReadColors(JFIF + Frame(0xc0, {'R', 'G', 'B'})), NotCovered);
    EXPECT_THROW(ReadColors(JFIF + ADOBE + std::string(1, '\0') + Frame(0xc0, {1, 2, 3})),
                 NotCovered);

    std::string jfif = JFIF;
    jfif[9] = '\2';
    EXPECT_THROW(ReadColors(jfif + Frame(0xc0, {1, 2, 3})), NotCovered);
  }


  TEST(CodestreamHeader, OfJpegLsIsRead)
  {
    const CodestreamHeader header =
        ReadCodestreamHeader(CodestreamKind::JpegLs, BEGIN + Frame(0xf7, {1}) + SCAN + END + '\0');
    EXPECT_EQ(header.width, 258);
    EXPECT_TRUE(header.isLossless);

    std::string lossy = SCAN;
    lossy[7] = '\2';
    EXPECT_FALSE(
        ReadCodestreamHeader(CodestreamKind::JpegLs, BEGIN + Frame(0xf7, {1}) + lossy + END)
            .isLossless);
    EXPECT_THROW(ReadCodestreamHeader(CodestreamKind::JpegLs, BEGIN + Frame(0xf7, {1}) + SCAN),
                 CodecError);
  }


  // ITU-T T.81 section H.1.1
  TEST(CodestreamHeader, OfLosslessJpegWithRestartsOfSeveralLinesIsNotCovered)
  {
    const std::string restarts = Bytes({0xff, 0xdd, 0, 4, 1, 2});
    const std::string none = Bytes({0xff, 0xdd, 0, 4, 0, 0});
    const auto find = [](const std::string& segments)
    {
      return FindError(CodestreamKind::Jpeg, BEGIN + segments + SCAN + END);
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
  TEST(CodestreamHeader, OfJpegLsThatLibrariesMisreadIsNotCovered)
  {
    const auto find = [](const std::string& segments, const std::string& scan)
    {
      return FindError(CodestreamKind::JpegLs, BEGIN + segments + Frame(0xf7, {1}) + scan + END);
    };
    const auto parameters = [](int high, int low)
    {
      return Bytes({0xff, 0xf8, 0, 13, 1, high, low, 0, 18, 0, 67, 1, 20, 0, 64});
    };
    EXPECT_EQ(find(parameters(0x0f, 0xff), SCAN), "");
    EXPECT_EQ(find(parameters(0, 0), SCAN), "");
    EXPECT_NE(find(parameters(0x0f, 0xfe), SCAN), "");

    std::string reset = parameters(0, 0);
    reset.back() = '\0';
    EXPECT_EQ(find(reset, SCAN), "");
    reset.back() = '\x41';
    EXPECT_NE(find(reset, SCAN), "");

    std::string mapped = SCAN;
    mapped[6] = '\1';
    EXPECT_NE(find("", mapped), "");

    std::string transformed = SCAN;
    transformed[9] = '\1';
    EXPECT_NE(find("", transformed), "");
    EXPECT_NE(find("", SCAN + transformed), "");  // another scan

    const std::string colors = Bytes({0xff, 0xe8, 0, 7}) + "mrfx";
    EXPECT_EQ(find(colors + '\0', SCAN), "");
    EXPECT_NE(find(colors + '\1', SCAN), "");
  }


  TEST(CodestreamHeader, IsThereOnceAndAsLongAsItsParameters)
  {
    const std::string frame = Frame(0xf7, {1});
    std::string longer = frame + '\0';
    longer[3]++;
    std::string scan = SCAN;
    scan[3]--;
    EXPECT_EQ(FindError(CodestreamKind::JpegLs, BEGIN + frame + SCAN + END), "");
    EXPECT_NE(FindError(CodestreamKind::JpegLs, BEGIN + frame + frame + SCAN + END), "");
    EXPECT_NE(FindError(CodestreamKind::JpegLs, BEGIN + longer + SCAN + END), "");
    EXPECT_NE(FindError(CodestreamKind::JpegLs, BEGIN + frame + scan + END), "");
  }


  TEST(CodestreamHeader, OfJpeg2000IsRead)
  {
    const CodestreamHeader header = ReadCodestreamHeader(CodestreamKind::Jpeg2000, MakeJpeg2000(3));
    EXPECT_EQ(header.height, 3);
    EXPECT_EQ(header.width, 258);
    EXPECT_EQ(header.components, 3);
    EXPECT_EQ(header.precision, 12);
    EXPECT_TRUE(header.isSigned);
    EXPECT_TRUE(header.isLossless);
    EXPECT_TRUE(header.isColorTransformed);
    EXPECT_THROW(ReadCodestreamHeader(CodestreamKind::Jpeg2000, MakeJpeg2000(3, 2)), NotCovered);
  }


  // ITU-T T.800 section B.3: a tile is 200 wide, thus there are two
  TEST(CodestreamHeader, OfJpeg2000HasEachOfItsTiles)
  {
    const auto find = [](const std::string& tiles)
    {
      std::string frame = MakeJpeg2000(1, 1, tiles);
      frame[26] = '\0';
      frame[27] = static_cast<char>(200);
      return FindError(CodestreamKind::Jpeg2000, frame);
    };
    const std::string second = Tile(15, "x", 1);
    const std::string third = Tile(15, "x", 2);
    EXPECT_EQ(find(TILE + second), "");
    EXPECT_EQ(find(second + TILE), "");
    EXPECT_NE(find(TILE), "");
    EXPECT_NE(find(second), "");
    EXPECT_NE(find(TILE + second + third), "");
    EXPECT_NE(FindError(CodestreamKind::Jpeg2000, MakeJpeg2000(1, 1, TILE + second)), "");
  }


  // ITU-T T.800 section A.4.2
  TEST(CodestreamHeader, OfJpeg2000HasEachPartOfItsTile)
  {
    const auto find = [](const std::string& parts)
    {
      return FindError(CodestreamKind::Jpeg2000, MakeJpeg2000(1, 1, parts));
    };
    const std::string comment = Bytes({0xff, 0x64, 0, 6}) + "text";
    const std::string withComment =
        Tile(23, "", 0, 0, 1).insert(12, comment) + "x";  // in front of SOD

    EXPECT_EQ(find(Tile(15, "x", 0, 0, 2) + Tile(15, "y", 0, 1, 2)), "");
    EXPECT_EQ(find(Tile(15, "x", 0, 0, 0) + Tile(15, "y", 0, 1, 2)), "");
    EXPECT_EQ(find(Tile(15, "x", 0, 0, 0) + Tile(15, "y", 0, 1, 0)), "");
    EXPECT_EQ(find(Tile(15, "x", 0, 0, 2) + Tile(14, "", 0, 1, 2)), "");
    EXPECT_EQ(find(withComment), "");

    EXPECT_NE(find(Tile(15, "x", 0, 0, 2)), "");
    EXPECT_NE(find(Tile(15, "x", 0, 1, 2)), "");
    EXPECT_NE(find(TILE + TILE), "");
    EXPECT_NE(find(Tile(14, "")), "");
    EXPECT_NE(find(Tile(0, "")), "");
    EXPECT_NE(find(Tile(15, "x", 0, 0, 3) + Tile(15, "x", 0, 2, 3)), "");
    EXPECT_NE(find(Tile(14, "", 0, 0, 2) + Tile(14, "", 0, 1, 2)), "");
  }


  TEST(CodestreamHeader, CutAnywhereIsRefused)
  {
    const std::string jpeg = BEGIN + JFIF + Frame(0xc0, {1, 2, 3}) + SCAN + END;
    const std::string jpegLs = BEGIN + Frame(0xf7, {1}) + SCAN + END;
    const std::string jpeg2000 = MakeJpeg2000(1);

    for (std::size_t i = 0; i < jpeg.size(); i++)
    {
      EXPECT_THROW(ReadCodestreamHeader(CodestreamKind::Jpeg, jpeg.substr(0, i)), CodecError);
    }

    for (std::size_t i = 0; i < jpegLs.size(); i++)
    {
      EXPECT_THROW(ReadCodestreamHeader(CodestreamKind::JpegLs, jpegLs.substr(0, i)), CodecError);
    }

    for (std::size_t i = 0; i < jpeg2000.size(); i++)
    {
      EXPECT_THROW(ReadCodestreamHeader(CodestreamKind::Jpeg2000, jpeg2000.substr(0, i)),
                   CodecError);
    }
  }


  TEST(CodestreamHeader, NothingButPaddingFollowsItsCodestream)
  {
    // Stuffed zeros, a restart, fill bytes, and one more scan
    const std::string jpeg =
        BEGIN + SCAN + Bytes({1, 0xff, 0, 2, 0xff, 0xd0, 3, 0xff, 0xff}) + SCAN + "x" + END;
    const std::string inData = Bytes({0xff, 0x7f, 0xff, 0x01});
    const std::string jpegLs = BEGIN + Frame(0xf7, {1}) + SCAN + inData + END;
    const std::string jpeg2000 = MakeJpeg2000(1, 1, Tile(16, END));  // counted, not read
    const std::string open = MakeJpeg2000(1, 1, Tile(0, Bytes({1, 0xff, 0x8f, 2})));

    const std::vector<std::pair<CodestreamKind, std::string>> streams = {
        {CodestreamKind::Jpeg, jpeg},
        {CodestreamKind::JpegLs, jpegLs},
        {CodestreamKind::Jpeg2000, jpeg2000},
        {CodestreamKind::Jpeg2000, open}};

    for (const auto& [kind, stream] : streams)
    {
      for (const char* const padding : {"", "x", "\xff\xff\xff"})
      {
        EXPECT_NO_THROW(ReadCodestreamHeader(kind, stream + padding)) << padding;
      }

      for (const std::string& more : {stream, std::string("more"), std::string("\xd9")})
      {
        EXPECT_EQ("Something follows the end of a frame", FindError(kind, stream + more));
      }
    }
  }


  TEST(CodestreamHeader, APictureInAnApplicationSegmentIsNoEnd)
  {
    const std::string picture = Bytes({0xff, 0xe0, 0, 6}) + BEGIN + END;
    EXPECT_EQ("", FindError(CodestreamKind::Jpeg, BEGIN + picture + SCAN + "x" + END));
  }


  TEST(CodestreamHeader, AnEndThatIsMissingIsAnError)
  {
    const std::string jpeg = BEGIN + SCAN + "xy" + END;
    EXPECT_EQ("The end of a frame is missing",
              FindError(CodestreamKind::Jpeg, BEGIN + SCAN + "cut" + jpeg));
    EXPECT_EQ("A tile of a JPEG 2000 frame is cut off",
              FindError(CodestreamKind::Jpeg2000, MakeJpeg2000(1, 1, Tile(11, "x"))));
    EXPECT_EQ("The end of a frame is missing",
              FindError(CodestreamKind::Jpeg2000, MakeJpeg2000(1, 1, Tile(255, "x"))));
  }
}
