// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/PluginMetrics.h"

namespace OrthancPerf
{
  PluginMetrics::PluginMetrics(const std::string& version, const std::string& orthanc) :
    tuning_(prometheus::BuildGauge()
                .Name("orthanc_perf_tuning")
                .Help("The tuning in force: numbers as they are, switches as 0 and 1.")
                .Register(registry_))
  {
    prometheus::BuildGauge()
        .Name("orthanc_perf_build_info")
        .Help("Versions of the performance plugin and of Orthanc; the value is always 1.")
        .Register(registry_)
        .Add({{"version", version}, {"orthanc", orthanc}})
        .Set(1);
  }

  void PluginMetrics::SetTuning(const std::map<std::string, double>& settings)
  {
    const std::lock_guard lock(mutex_);

    for (auto known = settings_.begin(); known != settings_.end();)
    {
      if (settings.count(known->first) == 0)
      {
        tuning_.Remove(known->second);
        known = settings_.erase(known);
      }
      else
      {
        ++known;
      }
    }

    for (const auto& [name, value] : settings)
    {
      prometheus::Gauge& gauge = tuning_.Add({{"setting", name}});
      gauge.Set(value);
      settings_[name] = &gauge;
    }
  }

  // Under the lock, so that a scrape sees the settings of one moment
  std::vector<prometheus::MetricFamily> PluginMetrics::Collect() const
  {
    const std::lock_guard lock(mutex_);
    return registry_.Collect();
  }
}
