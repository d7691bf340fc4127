// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/MainFigures.h"

namespace OrthancPerf
{
  namespace
  {
    // Of a Prometheus counter, which counts in whole numbers up to 2^53
    std::int64_t ToWholeNumber(double count)
    {
      return static_cast<std::int64_t>(count);
    }
  }


  MainFigures GetMainFigures(const IngestMetrics& ingest, const RecentTraffic& traffic)
  {
    const std::vector<WindowSummary> windows = traffic.Summarize();
    const WindowSummary& window = windows.front();
    const TrafficSummary& received =
        window.directions.at(static_cast<std::size_t>(Direction::Receive));

    MainFigures figures;
    figures.counts["orthanc_perf_received_bytes"] = ToWholeNumber(ingest.CountBytes());
    figures.counts["orthanc_perf_instances_in_flight"] = ToWholeNumber(ingest.CountAllInFlight());

    for (const Outcome outcome : GetAllOutcomes())
    {
      figures.counts[std::string("orthanc_perf_") + ToLabel(outcome) + "_instances"] =
          ToWholeNumber(ingest.CountInstances(outcome));
    }

    figures.rates = {
        {"orthanc_perf_received_instances_per_second", received.instancesPerSecond},
        {"orthanc_perf_received_bytes_per_second", received.bytesPerSecond},
    };

    if (received.areStallsObserved)
    {
      figures.rates["orthanc_perf_stall_seconds_per_second"] =
          ToSeconds(received.stallTime) / ToSeconds(window.covered);
    }

    return figures;
  }
}
