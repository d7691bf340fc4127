// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/MainFigures.h"

namespace OrthancPerf
{
  std::map<std::string, double> GetMainFigures(const IngestMetrics& ingest,
                                               const RecentTraffic& traffic)
  {
    const std::vector<WindowSummary> windows = traffic.Summarize();
    const WindowSummary& window = windows.front();
    const TrafficSummary& received =
        window.directions.at(static_cast<std::size_t>(Direction::Receive));

    std::map<std::string, double> figures = {
        {"orthanc_perf_received_bytes", ingest.CountBytes()},
        {"orthanc_perf_instances_in_flight", ingest.CountAllInFlight()},
        {"orthanc_perf_received_instances_per_second", received.instancesPerSecond},
        {"orthanc_perf_received_bytes_per_second", received.bytesPerSecond},
        {"orthanc_perf_stall_seconds_per_second",
         ToSeconds(received.stallTime) / ToSeconds(window.covered)},
    };

    for (const Outcome outcome : GetAllOutcomes())
    {
      figures[std::string("orthanc_perf_") + ToLabel(outcome) + "_instances"] =
          ingest.CountInstances(outcome);
    }

    return figures;
  }
}
