// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Admission/AdmissionQueue.h"
#include "Metrics/MetricSource.h"


#include <functional>

namespace OrthancPerf
{
  // What the instances in flight take of memory, and wait for it: asked at each scrape, on its
  // thread. Owned by the plugin's context; any thread may call it.
  class BudgetMetrics : public IMetricSource
  {
  public:
    using Read = std::function<AdmissionFigures()>;

    explicit BudgetMetrics(Read read);

    void Collect(const Receive& receive) const override;

  private:
    const Read read_;
  };
}
