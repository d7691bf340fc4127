// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/MemoryWatch.h"

#include <gtest/gtest.h>
#include <memory>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::seconds;

    constexpr std::uint64_t MEBIBYTE = std::uint64_t{1} << 20;

    class MemoryWatchTest : public testing::Test
    {
    protected:
      MemoryEvidence LookAfter(seconds time)
      {
        now_ += time;
        return watch_.Look(budget_, now_);
      }

      ProcessMemory process_;
      BudgetFigures budget_;
      TimePoint now_ = TimePoint(std::chrono::hours(1));
      MemoryWatch watch_{[this]
                         {
                           return process_;
                         }};
    };
  }


  TEST_F(MemoryWatchTest, TellsWhatHasWaitedInTheLastMinutes)
  {
    budget_.limit = 1000;
    budget_.waits = 5;
    budget_.waited = seconds(50);
    EXPECT_EQ(0U, LookAfter(seconds(0)).waits);

    budget_.waits = 7;
    budget_.waited = seconds(58);
    budget_.givenUp = 1;
    const MemoryEvidence evidence = LookAfter(seconds(1));
    EXPECT_EQ(1000U, evidence.budget);
    EXPECT_EQ(2U, evidence.waits);
    EXPECT_EQ(8, evidence.waited);
    EXPECT_EQ(1U, evidence.givenUp);

    for (int i = 0; i < 60; i++)
    {
      EXPECT_EQ(2U, LookAfter(seconds(4)).waits);
    }

    LookAfter(seconds(60));
    EXPECT_EQ(0U, LookAfter(seconds(10)).waits);
  }


  TEST_F(MemoryWatchTest, APeakIsEvidenceWhileItIsRecent)
  {
    process_.peak = 100;
    EXPECT_EQ(0U, LookAfter(seconds(0)).recentPeak);
    process_.peak = 900;
    EXPECT_EQ(900U, LookAfter(seconds(5)).recentPeak);
    EXPECT_EQ(900U, LookAfter(seconds(290)).recentPeak);
    EXPECT_EQ(0U, LookAfter(seconds(10)).recentPeak);
  }


  TEST_F(MemoryWatchTest, WhatIsKeptCountsIfItIsKeptForAMinute)
  {
    process_.anonymous = 900;
    process_.used = 100;

    for (int i = 0; i < 12; i++)
    {
      EXPECT_EQ(0U, LookAfter(seconds(5)).kept);
    }

    process_.used = 300;
    EXPECT_EQ(600U, LookAfter(seconds(5)).kept);
    EXPECT_EQ(300U, LookAfter(seconds(5)).used);

    process_.anonymous = 310;
    EXPECT_EQ(10U, LookAfter(seconds(5)).kept);
    process_.used.reset();
    EXPECT_EQ(0U, LookAfter(seconds(5)).kept);
  }


  TEST(ProcessMemory, IsReadFromProcAndMalloc)
  {
    const auto block = std::make_unique<char[]>(400 * MEBIBYTE);

    for (std::size_t i = 0; i < 400 * MEBIBYTE; i += 4096)
    {
      block[i] = static_cast<char>(i);
    }

    const TimePoint now = Clock::now() + std::chrono::hours(1);
    const ProcessMemory memory = ProcessMemory::Read("/proc", now);
    EXPECT_LE(400 * MEBIBYTE, memory.anonymous);
    EXPECT_LE(memory.anonymous, memory.peak);

    if (memory.used)  // glibc 2.33, and no sanitizer's malloc
    {
      EXPECT_LE(400 * MEBIBYTE, *memory.used);
      EXPECT_GT(200 * MEBIBYTE, memory.GetKept());

      // malloc is not asked each time
      const auto another = std::make_unique<char[]>(100 * MEBIBYTE);
      EXPECT_EQ(memory.used, ProcessMemory::Read("/proc", now + seconds(29)).used);
      EXPECT_LE(500 * MEBIBYTE, *ProcessMemory::Read("/proc", now + seconds(30)).used);
    }
  }


  TEST(ProcessMemory, IsNotKnownWithoutProc)
  {
    const ProcessMemory memory = ProcessMemory::Read("/nowhere");
    EXPECT_EQ(0U, memory.anonymous);
    EXPECT_EQ(0U, memory.peak);
    EXPECT_FALSE(memory.used);
    EXPECT_EQ(0U, memory.GetKept());
  }
}
