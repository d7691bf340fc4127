// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/TrafficSums.h"

#include "Advisor/RuleTest.h"

#include <cmath>

namespace OrthancPerf
{
  namespace
  {
    const TimePoint START = TimePoint(std::chrono::hours(1));
    const FinishedInstance INSTANCE = ToInstance(MakeHealthy());
  }


  TEST(TrafficSums, AddUpWhatCameAtOnce)
  {
    TrafficSums sums;
    sums.Add(INSTANCE, START);
    sums.Add(INSTANCE, START);
    EXPECT_DOUBLE_EQ(2, sums.instances);
    EXPECT_DOUBLE_EQ(1'000'000, sums.bytes);
    EXPECT_DOUBLE_EQ(0.003, sums.GetSeconds(Phase::Storage));
    EXPECT_DOUBLE_EQ(0.0015, sums.GetMean(Phase::Storage));
    EXPECT_DOUBLE_EQ(0.010, sums.GetTotalSeconds());
    EXPECT_DOUBLE_EQ(0.012, sums.GetSecondsWithPauses());
    EXPECT_DOUBLE_EQ(0.3, sums.GetShare(Phase::Storage));
    EXPECT_DOUBLE_EQ(0, sums.GetMean(Phase::Transcode));
  }


  TEST(TrafficSums, AfterHalfAMinuteOfTrafficThePastCountsHalf)
  {
    TrafficSums slow;
    slow.Add(ToInstance({{{Phase::Index, 100}}}), START);

    for (int second = 1; second <= 30; second++)
    {
      slow.Add(ToInstance({{}, 0}), START + std::chrono::seconds(second));
    }

    EXPECT_NEAR(0.050, slow.GetSeconds(Phase::Index), 1e-9);
  }


  TEST(TrafficSums, SlowInstancesStayAsLongAsSoMany)
  {
    TrafficSums slow;

    for (int number = 0; number < 27; number++)
    {
      slow.Add(ToInstance({{{Phase::Receive, 10'000}}}), START + number * std::chrono::seconds(10));
    }

    EXPECT_GT(slow.instances, MINIMUM_INSTANCES);
  }


  TEST(TrafficSums, SlowInstancesFadeOnceOthersAreQuick)
  {
    TrafficSums sums;
    TimePoint now = START;

    for (int number = 0; number < 100; number++)
    {
      now += std::chrono::seconds(10);
      sums.Add(ToInstance({{{Phase::Receive, 10'000}}}), now);
    }

    EXPECT_GT(sums.activeSeconds, 300);

    for (int number = 0; number < 120; number++)
    {
      now += std::chrono::milliseconds(10);
      sums.Add(INSTANCE, now);
    }

    EXPECT_LT(sums.activeSeconds, TrafficSums::LONGEST_SPAN);
    EXPECT_GT(sums.instances, MINIMUM_INSTANCES);
  }


  TEST(TrafficSums, SilenceDoesNotCount)
  {
    TrafficSums sums;
    sums.Add(INSTANCE, START);
    sums.Add(INSTANCE, START + std::chrono::minutes(4));
    EXPECT_GT(sums.instances, 1.97);
    EXPECT_NEAR(1, sums.activeSeconds, 0.03);
  }


  TEST(TrafficSums, ThereIsNoSilenceWhileAnInstanceIsAtWork)
  {
    const FinishedInstance slow = ToInstance({{{Phase::Storage, 10'000}}});
    TrafficSums sums;
    sums.Add(INSTANCE, START);
    sums.Add(slow, START + std::chrono::seconds(10));
    EXPECT_NEAR(10, sums.activeSeconds, 1e-9);
  }


  TEST(TrafficSums, WhatIsTooOldIsForgotten)
  {
    TrafficSums sums;
    sums.Add(INSTANCE, START);
    sums.Expire(START + std::chrono::minutes(5));
    EXPECT_DOUBLE_EQ(1, sums.instances);
    sums.Expire(START + std::chrono::minutes(6));
    EXPECT_DOUBLE_EQ(0, sums.instances);
    EXPECT_DOUBLE_EQ(0, sums.GetTotalSeconds());
  }


  TEST(TrafficSums, APauseOfAMinuteIsSilenceAndNoWait)
  {
    TrafficSums sums;
    sums.Add(ToInstance({{{Phase::Idle, 60'000}, {Phase::Index, 1}}}), START);
    EXPECT_DOUBLE_EQ(0, sums.GetSeconds(Phase::Idle));
  }


  TEST(TrafficSums, WhereInstancesWaitForEachOtherTheServiceTimeIsTheTimeBetweenThem)
  {
    Sample sample;
    sample.phases = {{Phase::Index, 40}};
    sample.gap = 10;  // four at a time
    EXPECT_NEAR(0.010, MakeTraffic(sample, 200).GetServiceTime(Phase::Index), 1e-3);
    sample.gap = 100;  // one at a time
    EXPECT_NEAR(0.040, MakeTraffic(sample, 200).GetServiceTime(Phase::Index), 1e-3);
  }


  TEST(TrafficSums, AClockThatThreadsReadOutOfOrderIsNoHarm)
  {
    TrafficSums sums;
    sums.Add(INSTANCE, START);
    sums.Add(INSTANCE, START - std::chrono::milliseconds(1));
    EXPECT_DOUBLE_EQ(2, sums.instances);
  }
}
