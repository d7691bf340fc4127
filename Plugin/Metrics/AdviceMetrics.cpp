// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/AdviceMetrics.h"

#include <prometheus/metric_family.h>

#include <utility>

namespace OrthancPerf
{
  AdviceMetrics::AdviceMetrics(CountFindings count) : count_(std::move(count))
  {
  }


  std::vector<prometheus::MetricFamily> AdviceMetrics::Collect() const
  {
    prometheus::MetricFamily family;
    family.name = "orthanc_perf_findings";
    family.help = "Findings of the advisor by their identifiers; GET /perf/advice explains them.";
    family.type = prometheus::MetricType::Gauge;

    for (const auto& [id, count] : count_())
    {
      prometheus::ClientMetric metric;
      metric.label.push_back({"id", id});
      metric.gauge.value = static_cast<double>(count);
      family.metric.push_back(metric);
    }

    if (family.metric.empty())
    {
      return {};
    }

    return {family};
  }
}
