// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/RleFrame.h"

#include "Dicom/CodecError.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    // Three bytes as they are, then four times the same: seven in all
    const std::string SEGMENT = "\x02xyz\xfdx";

    std::string MakeRamp(std::size_t size)
    {
      std::string ramp;

      for (std::size_t i = 0; i < size; i++)
      {
        ramp.push_back(static_cast<char>(i % 251));
      }

      return ramp;
    }

    // Of a frame of one segment, which lies behind the header
    std::string Cut(const std::string& segment, std::size_t size)
    {
      const std::string frame = JoinRleSegments({""}) + segment;
      return std::string(SplitRleFrame(frame, 1, size).front());
    }
  }

  TEST(RleFrame, ASegmentEndsWithItsPixelsOrIsRefused)
  {
    EXPECT_EQ(Cut(SEGMENT + "padding", 7), SEGMENT);
    EXPECT_EQ(Cut("\x80" + SEGMENT, 7), "\x80" + SEGMENT);  // -128 means nothing
    EXPECT_EQ(Cut(SEGMENT, 3), SEGMENT.substr(0, 4));
    EXPECT_THROW(Cut(SEGMENT, 8), CodecError);
    EXPECT_THROW(Cut(SEGMENT, 6), CodecError);
    EXPECT_THROW(Cut(SEGMENT.substr(0, 5), 7), CodecError);
    EXPECT_THROW(Cut(SEGMENT.substr(0, 3), 3), CodecError);
  }

  TEST(RleFrame, SegmentsComeBackAndAreEven)
  {
    const std::string odd = SEGMENT + "\x80";
    const std::string frame = JoinRleSegments({odd, SEGMENT});
    EXPECT_EQ(frame.size(), 64 + 8 + 6);
    EXPECT_EQ(SplitRleFrame(frame, 2, 7), (RleSegments{SEGMENT, SEGMENT}));
  }

  TEST(RleFrame, HeadersThatLieAreRefused)
  {
    const std::string frame = JoinRleSegments({SEGMENT, SEGMENT});
    EXPECT_THROW(SplitRleFrame(frame, 1, 7), CodecError);
    EXPECT_THROW(SplitRleFrame(frame, 2, 8), CodecError);
    EXPECT_THROW(SplitRleFrame(frame.substr(0, 63), 2, 7), CodecError);
    EXPECT_THROW(SplitRleFrame(frame.substr(0, 75), 2, 7), CodecError);

    for (const std::size_t position : {4, 7, 8, 11})
    {
      std::string other = frame;
      other[position] = '\x7f';
      EXPECT_THROW(SplitRleFrame(other, 2, 7), CodecError) << position;
    }
  }

  TEST(RleFrame, WhatIsEncodedComesBack)
  {
    std::vector<std::string> rows = {"abc", "abbb", "aabbb", "bbba", MakeRamp(300) + "zzzz"};

    for (const std::size_t size : {1, 2, 3, 128, 129})
    {
      rows.insert(rows.end(), {std::string(size, 'x'), MakeRamp(size), MakeRamp(size) + "y"});
    }

    rows.push_back(std::string(300, 'x') + "y");

    for (const std::string& row : rows)
    {
      for (const std::size_t samples : {1, 3})
      {
        for (const std::size_t bytes : {1, 2, 4})
        {
          std::string frame;

          for (std::size_t i = 0; i < 3 * samples * bytes; i++)
          {
            frame += row;
          }

          const std::string encoded = EncodeRleFrame(frame, row.size(), samples, bytes);
          EXPECT_EQ(DecodeRleFrame(encoded, 3 * row.size(), samples, bytes), frame)
              << row << ", " << samples << " samples of " << bytes;
        }
      }
    }
  }

  TEST(RleFrame, SegmentsAreByComponentAndByteAndEachRowIsEncodedForItself)
  {
    const std::string frame = EncodeRleFrame("aAbBcC", 1, 3, 2);
    const std::string expected[] = {"A", "a", "B", "b", "C", "c"};  // significant bytes first
    const RleSegments segments = SplitRleFrame(frame, 6, 1);

    for (std::size_t i = 0; i < 6; i++)
    {
      EXPECT_EQ(segments[i], std::string(1, '\0') + expected[i]);
    }

    EXPECT_EQ(SplitRleFrame(EncodeRleFrame("xxxxxxxx", 4, 1, 1), 1, 8),
              (RleSegments{"\xfdx\xfdx"}));
  }

  TEST(RleFrame, FramesThatAreNotAsDescribedAreNotDecoded)
  {
    const std::string frame = EncodeRleFrame("abcdef", 3, 1, 1);
    EXPECT_THROW(DecodeRleFrame(frame, 7, 1, 1), CodecError);
    EXPECT_THROW(DecodeRleFrame(frame, 6, 3, 1), CodecError);
    EXPECT_THROW(DecodeRleFrame(frame.substr(0, 67), 6, 1, 1), CodecError);
  }
}
