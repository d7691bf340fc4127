// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/LossyBound.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* JPEG = "1.2.840.10008.1.2.4.51";
    constexpr const char* NEAR_LOSSLESS = "1.2.840.10008.1.2.4.81";
    constexpr const char* JPEG_2000 = "1.2.840.10008.1.2.4.91";

    // In steps of samples of 12 bits that span all of their range
    bool IsExcessive(double mean, double maximum, const char* transferSyntax, unsigned int quality)
    {
      constexpr double RANGE = 4096;
      PixelError error;
      error.mean = mean / RANGE;
      error.maximum = maximum / RANGE;
      error.span = 1;
      return !FindExcessiveError(error, 12, transferSyntax, quality).empty();
    }
  }


  TEST(LossyBound, NearLosslessJpegLsKeepsItsWord)
  {
    EXPECT_FALSE(IsExcessive(0, 0, NEAR_LOSSLESS, 100));
    EXPECT_TRUE(IsExcessive(0.001, 1, NEAR_LOSSLESS, 100));
    EXPECT_FALSE(IsExcessive(1.5, 2, NEAR_LOSSLESS, 90));
    EXPECT_TRUE(IsExcessive(0.001, 3, NEAR_LOSSLESS, 90));
    EXPECT_FALSE(IsExcessive(20, 20, NEAR_LOSSLESS, 1));
    EXPECT_TRUE(IsExcessive(1, 21, NEAR_LOSSLESS, 1));
  }


  TEST(LossyBound, JpegIsBoundedByItsQuantization)
  {
    EXPECT_FALSE(IsExcessive(0.9, 7, JPEG, 100));
    EXPECT_TRUE(IsExcessive(1.1, 7, JPEG, 100));
    EXPECT_FALSE(IsExcessive(7, 60, JPEG, 90));
    EXPECT_TRUE(IsExcessive(8, 60, JPEG, 90));
    EXPECT_TRUE(IsExcessive(1, 70, JPEG, 90));
    EXPECT_FALSE(IsExcessive(34, 270, JPEG, 50));
    EXPECT_TRUE(IsExcessive(1, 4095, JPEG, 50));  // a sample that wrapped around
    EXPECT_FALSE(IsExcessive(700, 3340, JPEG, 1));
  }


  TEST(LossyBound, Jpeg2000IsBoundedByTheNoiseThatItAimsAt)
  {
    EXPECT_FALSE(IsExcessive(30, 700, JPEG_2000, 90));
    EXPECT_TRUE(IsExcessive(60, 700, JPEG_2000, 90));
    EXPECT_TRUE(IsExcessive(1, 4095, JPEG_2000, 90));
    EXPECT_FALSE(IsExcessive(2000, 4095, JPEG_2000, 1));
  }


  TEST(LossyBound, TheExcessIsNamed)
  {
    PixelError error;
    error.mean = 0.25;
    error.maximum = 1;
    EXPECT_EQ("the pixels are off by 25.0 % on average and 100.0 % at most",
              FindExcessiveError(error, 8, JPEG, 90));
  }
}
