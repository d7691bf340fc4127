// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/TrafficBucket.h"

#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    const TimePoint START = TimePoint(std::chrono::hours(1));
    const FinishedInstance INSTANCE = ToInstance(MakeHealthy());

    class LatestTrafficTest : public testing::Test
    {
    protected:
      // So many, one each so many milliseconds
      void Add(const FinishedInstance& instance, int count, int milliseconds)
      {
        for (int i = 0; i < count; i++)
        {
          now_ += std::chrono::milliseconds(milliseconds);
          latest_.Add(instance, now_);
        }
      }

      TrafficBucket Get() const
      {
        return latest_.GetEvidence(now_);
      }

      TimePoint now_ = START;
      LatestTraffic latest_{START};
    };
  }

  TEST_F(LatestTrafficTest, AddsUpWhatCameAtOnce)
  {
    Add(INSTANCE, 2, 0);
    const TrafficBucket sum = Get();
    EXPECT_DOUBLE_EQ(2, sum.instances);
    EXPECT_DOUBLE_EQ(1'000'000, sum.bytes);
    EXPECT_DOUBLE_EQ(0.003, sum.GetSeconds(Phase::Storage));
    EXPECT_DOUBLE_EQ(0.0015, sum.GetMean(Phase::Storage));
    EXPECT_DOUBLE_EQ(0.010, sum.GetTotalSeconds());
    EXPECT_DOUBLE_EQ(0.012, sum.GetSecondsWithPauses());
    EXPECT_DOUBLE_EQ(0.3, sum.GetShare(Phase::Storage));
    EXPECT_DOUBLE_EQ(0, sum.GetMean(Phase::Transcode));
  }

  // What is older than enough traffic is no evidence; slow instances stay until there are enough
  TEST_F(LatestTrafficTest, EvidenceIsTheLatestTrafficThatIsEnough)
  {
    Add(ToInstance({{{Phase::Index, 100}}}), 1, 0);
    Add(INSTANCE, 100, 600);
    EXPECT_NEAR(LatestTraffic::EVIDENCE_SECONDS, Get().activeSeconds, 5);
    EXPECT_NEAR(0.0012, Get().GetMean(Phase::Index), 1e-9);

    latest_.Restart(now_);
    Add(ToInstance({{{Phase::Receive, 20'000}}}), 200, 20'000);
    EXPECT_DOUBLE_EQ(LatestTraffic::EVIDENCE_INSTANCES, Get().instances);

    latest_.Restart(now_);
    Add(ToInstance({{{Phase::Receive, 10'000}}}), 100, 10'000);
    EXPECT_GT(Get().activeSeconds, 300);
    Add(INSTANCE, 120, 10);  // slow ones fade once others are quick
    EXPECT_LT(Get().activeSeconds, LatestTraffic::EVIDENCE_SECONDS + 10);
    EXPECT_GT(Get().instances, MINIMUM_INSTANCES);
  }

  TEST_F(LatestTrafficTest, CountsWhatIsNotTooOldAndTheTimeWithoutSilence)
  {
    const auto expect = [this](double count, double activeSeconds)
    {
      EXPECT_DOUBLE_EQ(count, Get().instances);
      EXPECT_NEAR(activeSeconds, Get().activeSeconds, 1e-9);
    };
    Add(INSTANCE, 2, 240'000);
    expect(2, 1);

    latest_.Restart(now_);  // no silence while one is at work
    Add(INSTANCE, 1, 0);
    Add(ToInstance({{{Phase::Storage, 10'000}}}), 1, 10'000);
    expect(2, 10);

    latest_.Restart(now_);
    Add(INSTANCE, 1, 0);
    now_ += std::chrono::seconds(300);
    expect(1, 0);
    now_ += std::chrono::seconds(60);  // too old
    expect(0, 0);

    latest_.Restart(now_);  // a clock that threads read out of order
    Add(INSTANCE, 1, 0);
    Add(INSTANCE, 1, -1);
    Add(INSTANCE, 1, 501);
    expect(3, 0.5);
  }

  TEST_F(LatestTrafficTest, ANewBeginningForgetsAllAndDividesByTheTimeSinceThen)
  {
    Add(INSTANCE, 1, 0);
    now_ += std::chrono::seconds(10);
    latest_.Restart(now_);
    Add(INSTANCE, 1, 0);
    EXPECT_DOUBLE_EQ(1, Get().instances);
    EXPECT_DOUBLE_EQ(0.5, latest_.GetRates(now_ + std::chrono::seconds(2)).instances);
  }

  TEST(LatestTraffic, APauseOfAMinuteIsSilenceAndNoWait)
  {
    TrafficBucket bucket;
    bucket.Add(ToInstance({{{Phase::Idle, 60'000}, {Phase::Index, 1}}}));
    EXPECT_DOUBLE_EQ(0, bucket.pauseSeconds);
    EXPECT_DOUBLE_EQ(60, bucket.GetSeconds(Phase::Idle));
    bucket.Add(ToInstance({{{Phase::Idle, 200}}}));
    EXPECT_DOUBLE_EQ(0.2, bucket.pauseSeconds);
  }

  TEST(LatestTraffic, WhereInstancesWaitForEachOtherTheServiceTimeIsTheTimeBetweenThem)
  {
    Sample sample;
    sample.phases = {{Phase::Index, 40}};
    sample.gap = 10;  // four at a time
    EXPECT_NEAR(0.010, MakeTraffic(sample, 200).GetServiceTime(Phase::Index), 1e-3);
    sample.gap = 100;  // one at a time
    EXPECT_NEAR(0.040, MakeTraffic(sample, 200).GetServiceTime(Phase::Index), 1e-3);
  }

  TEST(TrafficBucket, OfTwoIsTheirSum)
  {
    FinishedInstance instance = INSTANCE;
    instance.size = 8'000'000;
    instance.isOwnFailure = true;
    instance.outcome = Outcome::Failed;
    instance.areStallsObserved = true;
    instance.stalls = 3;
    instance.stallTime = std::chrono::milliseconds(120);
    instance.remote = ServerRecord{"", -1, 4, Duration::zero(), {}};
    instance.database =
        ServerRecord{"", 12, 30, std::chrono::milliseconds(1), std::chrono::milliseconds(5)};
    instance.phases.Add(Phase::Idle, std::chrono::milliseconds(2));
    TrafficBucket once;
    once.Add(instance);
    once.activeSeconds = 1;
    TrafficBucket sum = once;
    sum += once;

    for (const auto member :
         {&TrafficBucket::instances, &TrafficBucket::bytes, &TrafficBucket::largeInstances,
          &TrafficBucket::largeBytes, &TrafficBucket::ownFailures, &TrafficBucket::stalls,
          &TrafficBucket::stallSeconds, &TrafficBucket::remoteRoundTrips,
          &TrafficBucket::databaseRoundTrips, &TrafficBucket::latencySeconds,
          &TrafficBucket::queuedSeconds, &TrafficBucket::pauseSeconds,
          &TrafficBucket::activeSeconds})
    {
      EXPECT_GT(once.*member, 0);
      EXPECT_DOUBLE_EQ(2 * (once.*member), sum.*member);
    }

    EXPECT_DOUBLE_EQ(2, sum.GetOutcome(Outcome::Failed));
    EXPECT_DOUBLE_EQ(2 * once.GetSeconds(Phase::Storage), sum.GetSeconds(Phase::Storage));
    EXPECT_DOUBLE_EQ(once.GetMean(Phase::Storage), sum.GetMean(Phase::Storage));
    EXPECT_TRUE(sum.areStallsObserved && sum.isRemoteObserved && sum.isDatabaseObserved);
  }
}
