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
  }


  TEST(RleFrame, ASegmentEndsWithItsPixels)
  {
    EXPECT_EQ(CutRleSegment(SEGMENT + "padding", 7), SEGMENT);
    EXPECT_EQ(CutRleSegment("\x80" + SEGMENT, 7), "\x80" + SEGMENT);  // -128 means nothing
    EXPECT_EQ(CutRleSegment(SEGMENT, 3), SEGMENT.substr(0, 4));
  }


  TEST(RleFrame, ASegmentOfAnotherLengthIsRefused)
  {
    EXPECT_THROW(CutRleSegment(SEGMENT, 8), CodecError);
    EXPECT_THROW(CutRleSegment(SEGMENT, 6), CodecError);
    EXPECT_THROW(CutRleSegment(SEGMENT.substr(0, 5), 7), CodecError);
    EXPECT_THROW(CutRleSegment(SEGMENT.substr(0, 3), 3), CodecError);
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
}
