// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include <functional>
#include <utility>

namespace OrthancPerf
{
  // Where the families of a scrape come from, one after the other, a large one in parts: those of
  // hundreds of peers would take megabytes together, which the heap of each thread that answers a
  // scrape would keep.
  class IMetricSource
  {
  public:
    using Receive = std::function<void(prometheus::MetricFamily)>;

    virtual ~IMetricSource() = default;

    // Gives each of its families to receive, in any order; parts have the same name, type and help.
    // Any thread may call it; what receive throws is passed on.
    virtual void Collect(const Receive& receive) const = 0;
  };


  inline void CollectFrom(const prometheus::Registry& registry,
                          const IMetricSource::Receive& receive)
  {
    for (prometheus::MetricFamily& family : registry.Collect())
    {
      receive(std::move(family));
    }
  }
}
