// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/MemoryWatch.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::seconds;

    class MemoryWatchTest : public testing::Test
    {
    protected:
      MemoryEvidence LookAfter(seconds time)
      {
        now_ += time;
        return watch_.Look(ingest_, now_);
      }

      ProcessMemory process_;
      MemoryWatch::Ingest ingest_;
      TimePoint now_ = TimePoint(std::chrono::hours(1));
      MemoryWatch watch_{[this]
                         {
                           return process_;
                         }};
    };
  }


  TEST_F(MemoryWatchTest, TellsWhatHasWaitedInTheLastMinutes)
  {
    ingest_.budget.limit = 1000;
    ingest_.budget.waits = 5;
    ingest_.budget.waited = seconds(50);
    EXPECT_EQ(0U, LookAfter(seconds(0)).waits);

    ingest_.budget.waits = 7;
    ingest_.budget.waited = seconds(58);
    ingest_.budget.givenUp = 1;
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


  TEST_F(MemoryWatchTest, WhatWasReceivedIsOfTheSameMinutesAsTheWaits)
  {
    ingest_.received = 1000;
    ingest_.budget.waited = seconds(100);
    EXPECT_EQ(0, LookAfter(seconds(0)).received);

    ingest_.received = 1200;
    ingest_.budget.waited = seconds(110);
    const MemoryEvidence evidence = LookAfter(seconds(200));
    EXPECT_EQ(200, evidence.received);
    EXPECT_EQ(10, evidence.waited);

    LookAfter(seconds(110));  // the first is too old
    EXPECT_EQ(0, LookAfter(seconds(0)).received);
  }


  TEST_F(MemoryWatchTest, WithoutTheProbeNoBudgetIsInEffect)
  {
    ingest_.budget.limit = 1000;
    EXPECT_EQ(1000U, LookAfter(seconds(0)).budget);
    EXPECT_TRUE(LookAfter(seconds(0)).canWait);
    ingest_.canWait = false;
    EXPECT_EQ(0U, LookAfter(seconds(0)).budget);
    EXPECT_FALSE(LookAfter(seconds(0)).canWait);
  }


  TEST(ProcessMemory, IsReadFromProc)
  {
    constexpr std::size_t SIZE = std::size_t{100} << 20;
    const auto block = std::make_unique<char[]>(SIZE);

    for (std::size_t i = 0; i < SIZE; i += 4096)
    {
      block[i] = static_cast<char>(i);
    }

    const ProcessMemory memory = ProcessMemory::Read();
    EXPECT_LE(SIZE, memory.anonymous);
    EXPECT_LE(memory.anonymous, memory.peak);
  }


  TEST(ProcessMemory, IsNotKnownWithoutProc)
  {
    const ProcessMemory memory = ProcessMemory::Read("/nowhere");
    EXPECT_EQ(0U, memory.anonymous);
    EXPECT_EQ(0U, memory.peak);
  }
}
