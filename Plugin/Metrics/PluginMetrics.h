// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // The state of the plugin itself: orthanc_perf_build_info and orthanc_perf_tuning. Owned by the
  // plugin's context; any thread may call it.
  class PluginMetrics : public prometheus::Collectable
  {
  public:
    // The versions of the plugin and of the Orthanc that has loaded it
    PluginMetrics(const std::string& version, const std::string& orthanc);

    // The settings in force, from now on; those that are not named are no longer shown. Numbers
    // as they are, switches as 0 and 1.
    void SetTuning(const std::map<std::string, double>& settings);

    std::vector<prometheus::MetricFamily> Collect() const override;

  private:
    prometheus::Registry registry_;
    prometheus::Family<prometheus::Gauge>& tuning_;
    mutable std::mutex mutex_;
    std::map<std::string, prometheus::Gauge*> settings_;
  };
}
