// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/ProcessorPressure.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace OrthancPerf
{
  using Waits = ProcessorPressure::Waits;


  TEST(ProcessorPressure, ReadsHowLongAThreadHasWaited)
  {
    EXPECT_EQ(7434U, ParseWait("239927 7434 2\n"));
    EXPECT_EQ(0U, ParseWait(""));
    EXPECT_EQ(0U, ParseWait("239927"));
    EXPECT_EQ(0U, ParseWait("239927 many 2\n"));
  }


  TEST(ProcessorPressure, IsWhatEachThreadWaitedSinceTheLastCall)
  {
    Waits waits = {{100, 1000}, {101, 5000}};
    ProcessorPressure pressure([&waits] { return waits; });
    EXPECT_EQ(Waits(), pressure.Measure().waits);

    waits = {{100, 1400}, {101, 5050}};
    EXPECT_EQ((Waits{{100, 400}, {101, 50}}), pressure.Measure().waits);
    EXPECT_EQ((Waits{{100, 0}, {101, 0}}), pressure.Measure().waits);
  }


  TEST(ProcessorPressure, TellsHowLongAgoTheLastCallWas)
  {
    TimePoint now = TimePoint(std::chrono::hours(1));
    ProcessorPressure pressure([] { return Waits(); }, [&now] { return now; });
    EXPECT_EQ(Duration::zero(), pressure.Measure().span);

    for (const int seconds : {1, 60})
    {
      now += std::chrono::seconds(seconds);
      EXPECT_EQ(std::chrono::seconds(seconds), pressure.Measure().span);
    }
  }


  TEST(ProcessorPressure, ThreadsThatEndAndBeginTakeNothingAway)
  {
    Waits waits = {{100, 1000}, {101, 5000}, {102, 700}};
    ProcessorPressure pressure([&waits] { return waits; });
    pressure.Measure();

    waits = {{100, 1400}, {102, 20}, {103, 5000}};  // 101 has ended, 102 is another one
    EXPECT_EQ((Waits{{100, 400}}), pressure.Measure().waits);
    waits[103] += 100;
    EXPECT_EQ((Waits{{100, 0}, {102, 0}, {103, 100}}), pressure.Measure().waits);
  }


  TEST(ProcessorPressure, IsNothingWhereTheKernelDoesNotTell)
  {
    ProcessorPressure pressure([] { return Waits(); });
    EXPECT_EQ(Waits(), pressure.Measure().waits);
    EXPECT_EQ(Waits(), pressure.Measure().waits);
  }


  TEST(ProcessorPressure, TheKernelTellsOfThisThread)
  {
    EXPECT_EQ(1U, ProcessorPressure::ReadKernel().count(gettid()));
  }
}
