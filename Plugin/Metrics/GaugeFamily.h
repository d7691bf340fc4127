// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/MetricSource.h"

#include <prometheus/labels.h>
#include <prometheus/metric_family.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // A counter or a gauge, as a scrape finds it
  struct LabelledValue
  {
    prometheus::Labels labels;
    double value;
  };

  prometheus::MetricFamily MakeFamily(prometheus::MetricType type, const std::string& name,
                                      const std::string& help,
                                      const std::vector<LabelledValue>& values);

  // One for each number, whose name is the value of that label
  template <typename Number>
  std::vector<LabelledValue> ToLabelledValues(const std::string& label,
                                              const std::map<std::string, Number>& numbers)
  {
    std::vector<LabelledValue> values;
    values.reserve(numbers.size());

    for (const auto& [name, number] : numbers)
    {
      values.push_back({{{label, name}}, static_cast<double>(number)});
    }

    return values;
  }


  // The only one of its family, without labels; none if it is not known
  template <typename Number>
  std::vector<LabelledValue> ToOnlyValue(const std::optional<Number>& number)
  {
    return number ? std::vector<LabelledValue>{{{}, static_cast<double>(*number)}}
                  : std::vector<LabelledValue>();
  }


  // Gauges of what others know anyhow: they are asked at each scrape, on its thread. Owned by the
  // plugin's context; any thread may call it.
  class GaugeFamily : public IMetricSource
  {
  public:
    using Read = std::function<std::vector<LabelledValue>()>;

    GaugeFamily(std::string name, std::string help, Read read);

    void Collect(const Receive& receive) const override;

  private:
    const std::string name_;
    const std::string help_;
    const Read read_;
  };
}
