// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/MainFigures.h"

namespace OrthancPerf
{
  MainFigures GetMainFigures(const TrafficBucket& received, std::size_t inFlight,
                             const RecentTraffic& traffic)
  {
    const std::vector<WindowSummary> windows = traffic.Summarize();
    const WindowSummary& window = windows.front();
    const TrafficSummary& recent =
        window.directions.at(static_cast<std::size_t>(Direction::Receive));
    const TrafficRates rates = window.GetRates(Direction::Receive);

    MainFigures figures;
    figures.counts["orthanc_perf_received_bytes"] = static_cast<std::int64_t>(received.bytes);
    figures.counts["orthanc_perf_instances_in_flight"] = static_cast<std::int64_t>(inFlight);

    for (const Outcome outcome : GetAllOutcomes())
    {
      figures.counts[std::string("orthanc_perf_") + ToLabel(outcome) + "_instances"] =
          static_cast<std::int64_t>(received.GetOutcome(outcome));
    }

    figures.rates = {
        {"orthanc_perf_received_instances_per_second", rates.instances},
        {"orthanc_perf_received_bytes_per_second", rates.bytes},
    };

    if (recent.areStallsObserved)
    {
      figures.rates["orthanc_perf_stall_seconds_per_second"] =
          recent.stallSeconds / ToSeconds(window.covered);
    }

    return figures;
  }
}
