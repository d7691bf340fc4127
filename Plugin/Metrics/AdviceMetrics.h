// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <prometheus/collectable.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace OrthancPerf
{
  // The gauge orthanc_perf_findings: how many findings there are of each kind; absent where there
  // is none. Owned by the plugin's context; any thread may call it.
  class AdviceMetrics : public prometheus::Collectable
  {
  public:
    // The findings by their identifiers
    using CountFindings = std::function<std::map<std::string, std::size_t>()>;

    explicit AdviceMetrics(CountFindings count);

    std::vector<prometheus::MetricFamily> Collect() const override;

  private:
    const CountFindings count_;
  };
}
