// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Admission/AdmissionQueue.h"
#include "Metrics/MetricWriter.h"
#include "Metrics/PeerStatistics.h"
#include "Metrics/ServerTraffic.h"
#include "Metrics/TranscodingMetrics.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // All that one scrape shows, copied at its begin. What is empty has no series.
  struct MetricFigures : ServerTotals
  {
    std::string version;  // of the plugin
    std::string orthancVersion;
    std::optional<double> startTime;              // Unix time
    std::vector<std::size_t> inFlight;            // instances by Origin
    std::vector<PeerSummary> peers;               // a peer without a name: not known
    std::vector<EngineAttempts> transcodings;     // by engine and target
    std::optional<AdmissionFigures> budget;       // of memory
    std::optional<std::uint64_t> droppedEvents;   // EventQueue::CountDropped
    std::map<std::string, double> tuning;         // by key
    std::map<std::string, std::size_t> findings;  // by identifier
  };

  // One family of GET /perf/metrics. To add one, add a row to MetricTable.cpp, and its line to
  // reference.md, which a unit test compares with the table.
  struct MetricRow
  {
    std::string name;
    MetricType type;
    std::string labels;  // "origin, outcome"
    std::string help;
    std::function<void(const MetricFigures& figures, MetricWriter& writer)> write;
  };

  const std::vector<MetricRow>& GetMetricTable();

  // All families with a series in Prometheus' text format 0.0.4, in the order of the table
  std::string WriteMetrics(const MetricFigures& figures);
}
