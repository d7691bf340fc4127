// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/MetricSource.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // All metrics as GET /perf/metrics answers them, in a stable order: families by name, then by
  // labels. Owned by the plugin's context; any thread may call it.
  class Exposition
  {
  public:
    // Each family comes from one of the sources only. They must outlive the exposition.
    explicit Exposition(std::vector<const IMetricSource*> sources);

    // The content type of ToText()
    static constexpr const char* TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    // Prometheus' text format 0.0.4
    std::string ToText() const;

  private:
    using Texts = std::vector<std::string>;  // of a family's parts

    std::map<std::string, Texts> Collect() const;  // by name

    const std::vector<const IMetricSource*> sources_;

    // One scrape is written at a time: what each takes for a moment stays in the heap
    mutable std::mutex writing_;
  };
}
