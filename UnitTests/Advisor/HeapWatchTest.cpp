// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/HeapWatch.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::milliseconds;
    using std::chrono::seconds;

    constexpr std::uint64_t MEBIBYTE = std::uint64_t{1} << 20;

    class HeapWatchTest : public testing::Test
    {
    protected:
      std::optional<HeapWatch::Figures> LookAfter(seconds time)
      {
        now_ += time;
        return watch_.Look(anonymous_, now_);
      }

      // Until there has been much for long enough
      void GrowOld()
      {
        LookAfter(seconds(0));
        LookAfter(HeapWatch::LASTING);
      }

      std::uint64_t anonymous_ = 1000 * MEBIBYTE;
      std::optional<HeapWatch::Answer> answer_ =
          HeapWatch::Answer{200 * MEBIBYTE, 700 * MEBIBYTE, milliseconds(1)};
      int questions_ = 0;
      TimePoint now_ = TimePoint(std::chrono::hours(1));
      HeapWatch watch_{[this]
                       {
                         questions_++;
                         return answer_;
                       }};
    };
  }


  TEST_F(HeapWatchTest, MallocKeepsNoMoreThanItHasFree)
  {
    GrowOld();
    const std::optional<HeapWatch::Figures> figures = LookAfter(seconds(0));
    ASSERT_TRUE(figures);
    EXPECT_EQ(200 * MEBIBYTE, figures->used);
    EXPECT_EQ(700 * MEBIBYTE, figures->kept);
  }


  TEST_F(HeapWatchTest, WhatItHasGivenBackToTheKernelIsNotKept)
  {
    anonymous_ = 300 * MEBIBYTE;
    GrowOld();
    EXPECT_EQ(100 * MEBIBYTE, LookAfter(seconds(0))->kept);

    answer_->used = 400 * MEBIBYTE;  // pages that were never written to
    EXPECT_EQ(0U, LookAfter(HeapWatch::PERIOD)->kept);
  }


  TEST_F(HeapWatchTest, WhatComesAfterTheQuestionIsNotKeptAndWhatGoesIsNotEither)
  {
    anonymous_ = 500 * MEBIBYTE;
    GrowOld();
    anonymous_ = 900 * MEBIBYTE;
    EXPECT_EQ(300 * MEBIBYTE, LookAfter(seconds(5))->kept);
    anonymous_ = 400 * MEBIBYTE;
    EXPECT_EQ(200 * MEBIBYTE, LookAfter(seconds(5))->kept);
    anonymous_ = 900 * MEBIBYTE;
    EXPECT_EQ(200 * MEBIBYTE, LookAfter(seconds(5))->kept);
    EXPECT_EQ(1, questions_);
  }


  TEST_F(HeapWatchTest, AsksOnlyWhereThereHasBeenMuchForAMinute)
  {
    EXPECT_FALSE(LookAfter(seconds(0)));
    EXPECT_FALSE(LookAfter(seconds(59)));
    anonymous_ = HeapWatch::MUCH - 1;
    EXPECT_FALSE(LookAfter(seconds(1)));
    anonymous_ = HeapWatch::MUCH;
    EXPECT_FALSE(LookAfter(seconds(1)));
    EXPECT_FALSE(LookAfter(seconds(59)));
    EXPECT_EQ(0, questions_);
    EXPECT_TRUE(LookAfter(seconds(1)));
    EXPECT_EQ(1, questions_);
  }


  TEST_F(HeapWatchTest, AsksEveryHalfMinute)
  {
    GrowOld();
    const TimePoint askedAt = now_;
    EXPECT_EQ(askedAt, LookAfter(seconds(29))->askedAt);
    EXPECT_EQ(1, questions_);
    EXPECT_EQ(askedAt + seconds(30), LookAfter(seconds(1))->askedAt);
    EXPECT_EQ(2, questions_);
  }


  TEST_F(HeapWatchTest, AfterASlowAnswerItAsksAsMuchLater)
  {
    answer_->taken = milliseconds(100);
    GrowOld();
    EXPECT_TRUE(LookAfter(seconds(99)));
    EXPECT_EQ(1, questions_);
    EXPECT_TRUE(LookAfter(seconds(1)));
    EXPECT_EQ(2, questions_);
  }


  TEST_F(HeapWatchTest, AMallocThatCannotBeAskedSaysNothing)
  {
    answer_.reset();
    GrowOld();
    EXPECT_FALSE(LookAfter(HeapWatch::PERIOD));
    EXPECT_EQ(2, questions_);
  }
}
