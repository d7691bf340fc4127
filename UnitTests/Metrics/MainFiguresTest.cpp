// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/MainFigures.h"

#include "Metrics/ServerTotals.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(MainFigures, AddUpAllOrigins)
  {
    const TimePoint start{std::chrono::seconds(100)};
    ServerTotals metrics;
    RecentTraffic traffic([start] { return start; });

    for (const Origin origin : {Origin::RestApi, Origin::DicomProtocol})
    {
      FinishedInstance instance;
      instance.origin = origin;
      instance.outcome = Outcome::Stored;
      instance.size = 1000;
      metrics.OnInstanceFinished(instance);
      traffic.OnInstanceFinished(instance);
    }

    const MainFigures figures = GetMainFigures(metrics.GetReceived(), 2, traffic);
    EXPECT_EQ(2, figures.counts.at("orthanc_perf_stored_instances"));
    EXPECT_EQ(0, figures.counts.at("orthanc_perf_failed_instances"));
    EXPECT_EQ(0, figures.counts.at("orthanc_perf_discarded_instances"));
    EXPECT_EQ(2000, figures.counts.at("orthanc_perf_received_bytes"));
    EXPECT_EQ(2, figures.counts.at("orthanc_perf_instances_in_flight"));
    EXPECT_GT(figures.rates.at("orthanc_perf_received_instances_per_second"), 0);
  }


  TEST(MainFigures, StallsAreAbsentUntilTheyAreObserved)
  {
    TimePoint now{std::chrono::seconds(100)};
    RecentTraffic traffic([&now] { return now; });
    const auto find = [&]
    {
      return GetMainFigures({}, 0, traffic).rates.count("orthanc_perf_stall_seconds_per_second");
    };

    FinishedInstance instance;
    traffic.OnInstanceFinished(instance);
    EXPECT_EQ(0U, find());
    instance.areStallsObserved = true;
    traffic.OnInstanceFinished(instance);
    EXPECT_EQ(1U, find());
    now += std::chrono::hours(1);
    EXPECT_EQ(1U, find()) << "Orthanc would keep the last one";
  }
}
