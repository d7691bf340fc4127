// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/CodestreamEnd.h"

#include "Dicom/CodecError.h"

#include <gtest/gtest.h>
#include <string>

namespace OrthancPerf
{
  namespace
  {
    std::string Bytes(std::initializer_list<int> values)
    {
      std::string bytes;

      for (const int value : values)
      {
        bytes.push_back(static_cast<char>(value));
      }

      return bytes;
    }


    const std::string SOI = "\xff\xd8";
    const std::string EOI = "\xff\xd9";
    const std::string SCAN = Bytes({0xff, 0xda, 0, 3, 1});
    const std::string MAIN_HEADER = Bytes({0xff, 0x4f, 0xff, 0x51, 0, 4, 1, 1});

    std::string Tile(int length)
    {
      return Bytes({0xff, 0x90, 0, 10, 0, 0, 0, 0, 0, length, 0, 1, 0xff, 0x93});
    }
  }


  TEST(CodestreamEnd, OfJpegIsBehindItsEndOfImage)
  {
    // Stuffed zeros, a restart, fill bytes, and one more scan
    const std::string stream =
        SOI + SCAN + Bytes({1, 0xff, 0, 2, 0xff, 0xd0, 3, 0xff, 0xff}) + SCAN + "x" + EOI;
    EXPECT_EQ(stream.size(), MeasureJpeg(stream));
    EXPECT_EQ(stream.size(), MeasureJpeg(stream + stream));
    EXPECT_EQ(stream.size(), MeasureJpeg(stream + "padding"));
  }


  TEST(CodestreamEnd, APictureInAnApplicationSegmentIsNoEnd)
  {
    const std::string stream = SOI + Bytes({0xff, 0xe0, 0, 6}) + SOI + EOI + SCAN + "x" + EOI;
    EXPECT_EQ(stream.size(), MeasureJpeg(stream));
  }


  TEST(CodestreamEnd, OfJpegLsCodedDataMayHoldWhatIsAMarkerElsewhere)
  {
    const std::string stream = SOI + SCAN + Bytes({0xff, 0x7f, 0xff, 0x01}) + EOI;
    EXPECT_EQ(stream.size(), MeasureJpeg(stream + stream));
  }


  TEST(CodestreamEnd, OfJpeg2000IsBehindItsTiles)
  {
    const std::string inTile = EOI;  // counted, not looked at
    const std::string stream = MAIN_HEADER + Tile(16) + inTile + Tile(14) + EOI;
    EXPECT_EQ(stream.size(), MeasureJpeg2000(stream + stream));

    const std::string open = MAIN_HEADER + Tile(0) + Bytes({1, 0xff, 0x8f, 2}) + EOI;
    EXPECT_EQ(open.size(), MeasureJpeg2000(open + open));
  }


  TEST(CodestreamEnd, ThatIsMissingIsAnError)
  {
    const std::string jpeg = SOI + Bytes({0xff, 0xe0, 0, 6, 1, 2, 3, 4}) + SCAN + "xy" + EOI;
    const std::string jpeg2000 = MAIN_HEADER + Tile(16) + "xy" + EOI;

    for (std::size_t i = 0; i < jpeg.size(); i++)
    {
      EXPECT_THROW(MeasureJpeg(jpeg.substr(0, i)), CodecError) << i;
    }

    for (std::size_t i = 0; i < jpeg2000.size(); i++)
    {
      EXPECT_THROW(MeasureJpeg2000(jpeg2000.substr(0, i)), CodecError) << i;
    }

    EXPECT_THROW(MeasureJpeg(SOI + SCAN + "cut" + jpeg), CodecError);
    EXPECT_THROW(MeasureJpeg2000(MAIN_HEADER + Tile(11) + EOI), CodecError);
    EXPECT_THROW(MeasureJpeg2000(MAIN_HEADER + Tile(255) + EOI), CodecError);
  }
}
