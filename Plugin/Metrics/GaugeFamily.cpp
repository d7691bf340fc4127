// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/GaugeFamily.h"

#include <utility>

namespace OrthancPerf
{
  prometheus::MetricFamily MakeFamily(prometheus::MetricType type, const std::string& name,
                                      const std::string& help,
                                      const std::vector<LabelledValue>& values)
  {
    prometheus::MetricFamily family;
    family.name = name;
    family.help = help;
    family.type = type;
    family.metric.reserve(values.size());

    for (const LabelledValue& one : values)
    {
      prometheus::ClientMetric& metric = family.metric.emplace_back();
      metric.gauge.value = one.value;
      metric.counter.value = one.value;
      metric.label.reserve(one.labels.size());

      for (const auto& [label, value] : one.labels)
      {
        metric.label.push_back({label, value});
      }
    }

    return family;
  }


  GaugeFamily::GaugeFamily(std::string name, std::string help, Read read) :
    name_(std::move(name)),
    help_(std::move(help)),
    read_(std::move(read))
  {
  }


  void GaugeFamily::Collect(const Receive& receive) const
  {
    receive(MakeFamily(prometheus::MetricType::Gauge, name_, help_, read_()));
  }
}
