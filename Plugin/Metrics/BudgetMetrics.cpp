// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/BudgetMetrics.h"

#include "Metrics/GaugeFamily.h"

#include <string>
#include <utility>

namespace OrthancPerf
{
  BudgetMetrics::BudgetMetrics(Read read) : read_(std::move(read))
  {
  }


  void BudgetMetrics::Collect(const Receive& receive) const
  {
    using prometheus::MetricType;

    const AdmissionFigures figures = read_();

    const auto add = [&receive](MetricType type, const char* name, const char* help, auto value)
    {
      receive(MakeFamily(type, std::string("orthanc_perf_ingest_budget_") + name, help,
                         {{{}, static_cast<double>(value)}}));
    };

    add(MetricType::Gauge, "bytes", "What the messages in flight may take of memory; 0: no limit.",
        figures.limit);
    add(MetricType::Gauge, "held_bytes", "What the large messages in flight take of memory.",
        figures.held);
    add(MetricType::Gauge, "in_flight", "Large messages on their way in, those that wait as well.",
        figures.inFlight);
    add(MetricType::Gauge, "waiting", "Messages that wait at their sockets until there is room.",
        figures.waiting);
    add(MetricType::Counter, "waits_total", "Messages that had to wait for room.", figures.waits);
    add(MetricType::Counter, "waited_seconds_total", "What they waited, all together.",
        ToSeconds(figures.waited));
    add(MetricType::Counter, "given_up_total",
        "Messages that were admitted over the budget after the longest wait.", figures.givenUp);
  }
}
