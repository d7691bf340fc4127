// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/IngestMetrics.h"
#include "Metrics/RecentTraffic.h"

#include <map>
#include <string>

namespace OrthancPerf
{
  // The main scalars by name, for Orthanc's own /tools/metrics-prometheus, which has no labels:
  // totals of the ingest metrics over all origins, and the rates of the last ten seconds. Not the
  // names of /perf/metrics, so that one Prometheus server can scrape both.
  std::map<std::string, double> GetMainFigures(const IngestMetrics& ingest,
                                               const RecentTraffic& traffic);
}
