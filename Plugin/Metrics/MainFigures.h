// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/RecentTraffic.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace OrthancPerf
{
  // The main scalars by name, for Orthanc's own /tools/metrics-prometheus, which has no labels. Not
  // the names of /perf/metrics, so that one Prometheus server can scrape both. A value.
  struct MainFigures
  {
    std::map<std::string, std::int64_t> counts;  // since the start, over all origins
    std::map<std::string, double> rates;         // of the last ten seconds
  };

  // "received": since the start (ServerTotals); "inFlight": instances of all origins now
  MainFigures GetMainFigures(const TrafficBucket& received, std::size_t inFlight,
                             const RecentTraffic& traffic);
}
