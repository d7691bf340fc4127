// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/ServerTraffic.h"

#include "Metrics/Instances.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::milliseconds;
    using std::chrono::seconds;

    class ServerTrafficTest : public testing::Test
    {
    protected:
      static constexpr std::size_t TEN_SECONDS = 0;
      static constexpr std::size_t MINUTE = 1;
      static constexpr std::size_t FIVE_MINUTES = 2;

      TrafficSummary Get(std::size_t window, Direction direction = Direction::Receive) const
      {
        return traffic_.SummarizeWindows().at(window).directions.at(
            static_cast<std::size_t>(direction));
      }

      static PhaseHistogram Get(const TrafficSummary& summary, Phase phase)
      {
        return summary.latencies.at(static_cast<std::size_t>(phase));
      }

      TimePoint now_{seconds(1000)};
      ServerTraffic traffic_{[this]
                             {
                               return now_;
                             }};
    };
  }

  TEST_F(ServerTrafficTest, CountsRequestsThatReadBesideBothDirections)
  {
    FinishedRequest request;
    request.status = 200;
    request.bytesSent = 1000;
    request.phases = {milliseconds(5), milliseconds(1), milliseconds(2),
                      milliseconds(3), milliseconds(4), milliseconds(6)};
    traffic_.OnRequestFinished(request);
    request.status = 500;
    traffic_.OnRequestFinished(request);

    const WindowSummary summary = traffic_.SummarizeWindows().front();
    EXPECT_EQ(Duration(seconds(10)), summary.length);
    EXPECT_EQ(0.0, summary.GetRates(0).instances);
    EXPECT_EQ(0U, summary.directions.front().duration.count);
    const TrafficSummary& served = summary.directions[SERVE];
    EXPECT_EQ(0U, summary.directions.front().instances);
    EXPECT_EQ(2U, served.instances);
    EXPECT_EQ(2000U, served.bytes);
    EXPECT_EQ(1U, served.GetOutcome(Outcome::Failed));
    EXPECT_DOUBLE_EQ(0.016, served.duration.maximum);
    EXPECT_DOUBLE_EQ(0.012, served.GetSeconds(Phase::Work));  // with the database
    EXPECT_FALSE(served.IsObserved(Phase::Database));
    EXPECT_GT(summary.GetRates(SERVE).bytes, 0);
  }

  TEST_F(ServerTrafficTest, RatesAreOverWhatTheWindowCovers)
  {
    for (int i = 0; i < 400; i++)  // ten a second, for 40 s
    {
      traffic_.OnInstanceFinished(MakeInstance("CT1"));
      now_ += milliseconds(100);
    }

    for (const std::size_t window : {TEN_SECONDS, MINUTE, FIVE_MINUTES})
    {
      const TrafficRates rates = traffic_.SummarizeWindows().at(window).GetRates(0);
      EXPECT_NEAR(10, rates.instances, 0.2);
      EXPECT_NEAR(10000, rates.bytes, 200);
    }

    EXPECT_EQ(50U, Get(TEN_SECONDS).instances);  // its second slot begins now
    EXPECT_EQ(400U, Get(FIVE_MINUTES).instances);
  }

  TEST_F(ServerTrafficTest, AnInstanceLeavesTheShortWindowsOfItsDirectionFirst)
  {
    FinishedInstance timeless = MakeInstance("CT1");
    timeless.phases = PhaseDurations();
    traffic_.OnInstanceFinished(timeless);
    EXPECT_EQ(0U, Get(MINUTE, Direction::Send).instances);
    FinishedInstance sent = MakeInstance("PACS");
    sent.direction = Direction::Send;
    traffic_.OnInstanceFinished(sent);
    EXPECT_EQ(1U, Get(MINUTE, Direction::Send).instances);

    now_ += seconds(11);
    EXPECT_EQ(0U, Get(TEN_SECONDS).instances);
    EXPECT_EQ(1U, Get(MINUTE).instances);
    EXPECT_EQ(0U, Get(MINUTE).duration.count);
    now_ += seconds(60);
    EXPECT_EQ(0U, Get(MINUTE).instances);
    EXPECT_EQ(1U, Get(FIVE_MINUTES).instances);
    now_ += seconds(300);
    EXPECT_EQ(0U, Get(FIVE_MINUTES).instances);
  }

  TEST_F(ServerTrafficTest, PhasesAndTheWholeAreSummarized)
  {
    FinishedInstance slow = MakeInstance("CT1");
    slow.phases.Add(Phase::Receive, milliseconds(160));  // 200 ms in all
    slow.phases.Add(Phase::Idle, seconds(5));
    traffic_.OnInstanceFinished(MakeInstance("CT1"));
    traffic_.OnInstanceFinished(MakeInstance("CT1"));
    traffic_.OnInstanceFinished(slow);

    const TrafficSummary summary = Get(MINUTE);
    const PhaseHistogram receive = Get(summary, Phase::Receive);
    EXPECT_EQ(3U, receive.count);
    EXPECT_DOUBLE_EQ(0.280, receive.sum);
    EXPECT_DOUBLE_EQ(0.035 + 0.015 * 1.5 / 2, receive.GetQuantile(0.5));
    EXPECT_DOUBLE_EQ(0.18 + 0.02 * 0.7, receive.GetQuantile(0.9));
    EXPECT_DOUBLE_EQ(0.200, receive.GetQuantile(1));
    EXPECT_DOUBLE_EQ(0.200, receive.maximum);
    EXPECT_EQ(1U, Get(summary, Phase::Idle).count);
    EXPECT_EQ(0U, Get(summary, Phase::Commit).count);
    EXPECT_DOUBLE_EQ(0.2031, summary.duration.maximum);
  }

  TEST_F(ServerTrafficTest, StallsThatWereLookedForOnceAreObserved)
  {
    FinishedInstance instance = MakeInstance("CT1");
    traffic_.OnInstanceFinished(instance);
    EXPECT_FALSE(Get(TEN_SECONDS).areStallsObserved);
    instance.areStallsObserved = true;
    traffic_.OnInstanceFinished(instance);
    now_ += std::chrono::hours(1);
    EXPECT_TRUE(Get(TEN_SECONDS).areStallsObserved);
    EXPECT_FALSE(Get(TEN_SECONDS, Direction::Send).areStallsObserved);
  }
}
