// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/IngestMetrics.h"
#include "Metrics/RecentTraffic.h"

#include <cstdint>
#include <map>
#include <string>

namespace OrthancPerf
{
  // The main scalars by name, for Orthanc's own /tools/metrics-prometheus, which has no labels. Not
  // the names of /perf/metrics, so that one Prometheus server can scrape both. A value.
  struct MainFigures
  {
    std::map<std::string, std::int64_t> counts;  // of the ingest metrics, over all origins
    std::map<std::string, double> rates;         // of the last ten seconds
  };

  MainFigures GetMainFigures(const IngestMetrics& ingest, const RecentTraffic& traffic);
}
