// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/MetricSource.h"

#include <json/value.h>

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

    // The same as JSON: an array of families with Name, Help, Type ("counter", "gauge",
    // "histogram") and Metrics, each with Labels, and Value or Count, Sum and Buckets
    // (UpperBound, Count; cumulative as in the text format). Numbers that JSON does not have are
    // the strings "NaN", "+Inf" and "-Inf", as in the answers of a Prometheus server.
    Json::Value ToJson() const;

  private:
    // By name, what write has made of each family's parts, which are there no longer then
    template <typename Written, typename Write>
    std::map<std::string, Written> Collect(Write write) const;

    const std::vector<const IMetricSource*> sources_;

    // One scrape is written at a time: what each takes for a moment stays in the heap
    mutable std::mutex writing_;
  };
}
