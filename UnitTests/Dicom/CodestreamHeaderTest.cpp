// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/CodestreamHeader.h"

#include "Dicom/CodecError.h"

#include <gtest/gtest.h>
#include <string>

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
      return ReadJpegHeader(BEGIN + segments + SCAN + END).colors;
    }

    // ITU-T T.800 annex A: an image of 258 × 3 with an offset of 2 × 1, 12 bits signed
    std::string MakeJpeg2000(int components, int subsampling = 1)
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

      return Bytes({0xff, 0x4f}) + size +
             Bytes({0xff, 0x52, 0, 12, 0, 0, 0, 1, 1, 5, 4, 4, 0, 1, 0xff, 0x90}) + END;
    }
  }


  TEST(CodestreamHeader, OfJpegIsRead)
  {
    const CodestreamHeader header = ReadJpegHeader(BEGIN + Frame(0xc3, {1}) + SCAN + END);
    EXPECT_EQ(header.height, 3);
    EXPECT_EQ(header.width, 258);
    EXPECT_EQ(header.components, 1);
    EXPECT_EQ(header.precision, 12);
    EXPECT_TRUE(header.isLossless);
    EXPECT_FALSE(ReadJpegHeader(BEGIN + Frame(0xc1, {1}) + SCAN).isLossless);
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
    EXPECT_EQ(ReadJpegHeader(BEGIN + "\xff\xff" + Frame(0xc0, {1}) + SCAN).height, 3);
  }


  TEST(CodestreamHeader, OfJpegWithSomethingElseIsRefused)
  {
    EXPECT_THROW(ReadJpegHeader(BEGIN + "x" + Frame(0xc0, {1}) + SCAN), CodecError);
    EXPECT_THROW(ReadJpegHeader(Frame(0xc0, {1}) + SCAN), CodecError);
    EXPECT_THROW(ReadJpegHeader(BEGIN + Bytes({0xff, 0xd0}) + Frame(0xc0, {1}) + SCAN), CodecError);
    EXPECT_THROW(ReadJpegHeader(BEGIN + Frame(0xc9, {1}) + SCAN), NotCovered);
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
    const CodestreamHeader header = ReadJpegLsHeader(BEGIN + Frame(0xf7, {1}) + SCAN + END + '\0');
    EXPECT_EQ(header.width, 258);
    EXPECT_TRUE(header.isLossless);

    std::string lossy = SCAN;
    lossy[7] = '\2';
    EXPECT_FALSE(ReadJpegLsHeader(BEGIN + Frame(0xf7, {1}) + lossy + END).isLossless);
    EXPECT_THROW(ReadJpegLsHeader(BEGIN + Frame(0xf7, {1}) + SCAN), CodecError);
  }


  TEST(CodestreamHeader, OfJpeg2000IsRead)
  {
    const CodestreamHeader header = ReadJpeg2000Header(MakeJpeg2000(3));
    EXPECT_EQ(header.height, 3);
    EXPECT_EQ(header.width, 258);
    EXPECT_EQ(header.components, 3);
    EXPECT_EQ(header.precision, 12);
    EXPECT_TRUE(header.isSigned);
    EXPECT_TRUE(header.isLossless);
    EXPECT_TRUE(header.isColorTransformed);
    EXPECT_THROW(ReadJpeg2000Header(MakeJpeg2000(3, 2)), NotCovered);
  }


  TEST(CodestreamHeader, CutAnywhereIsRefused)
  {
    const std::string jpeg = BEGIN + JFIF + Frame(0xc0, {1, 2, 3}) + Bytes({0xff, 0xda});
    const std::string jpegLs = BEGIN + Frame(0xf7, {1}) + SCAN + END;
    const std::string jpeg2000 = MakeJpeg2000(1);

    for (std::size_t i = 0; i < jpeg.size(); i++)
    {
      EXPECT_THROW(ReadJpegHeader(jpeg.substr(0, i)), CodecError);
    }

    for (std::size_t i = 0; i < jpegLs.size(); i++)
    {
      EXPECT_THROW(ReadJpegLsHeader(jpegLs.substr(0, i)), CodecError);
    }

    for (std::size_t i = 0; i < jpeg2000.size(); i++)
    {
      EXPECT_THROW(ReadJpeg2000Header(jpeg2000.substr(0, i)), CodecError);
    }
  }
}
