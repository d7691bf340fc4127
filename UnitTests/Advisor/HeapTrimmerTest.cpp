// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/HeapTrimmer.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::seconds;

    class HeapTrimmerTest : public testing::Test
    {
    protected:
      int CountAfter(seconds time)
      {
        now_ += time;
        trimmer_.Look(now_);
        return trims_;
      }

      int trims_ = 0;
      TimePoint now_ = TimePoint(std::chrono::hours(1));
      HeapTrimmer trimmer_{[this]
                           {
                             trims_++;
                           }};
    };
  }


  TEST_F(HeapTrimmerTest, ByItselfItNeverDoes)
  {
    EXPECT_EQ(0, CountAfter(seconds(0)));
    EXPECT_EQ(0, CountAfter(std::chrono::hours(1)));
  }


  TEST_F(HeapTrimmerTest, ItDoesAtOnceAndThenOnceInAPeriod)
  {
    trimmer_.SetPeriod(seconds(30));
    EXPECT_EQ(1, CountAfter(seconds(0)));
    EXPECT_EQ(1, CountAfter(seconds(29)));
    EXPECT_EQ(2, CountAfter(seconds(1)));
    EXPECT_EQ(2, CountAfter(seconds(1)));
    trimmer_.SetPeriod(seconds(2));
    EXPECT_EQ(3, CountAfter(seconds(1)));
    trimmer_.SetPeriod(seconds(0));
    EXPECT_EQ(3, CountAfter(seconds(100)));
  }


  TEST(HeapTrimmer, WithAMallocThatCannotNothingHappens)
  {
    HeapTrimmer trimmer((HeapTrimmer::Trim()));
    trimmer.SetPeriod(seconds(1));
    trimmer.Look(TimePoint(seconds(1)));
  }
}
