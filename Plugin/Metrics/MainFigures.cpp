// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/MainFigures.h"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

namespace OrthancPerf
{
  namespace
  {
    std::string GetLabel(const prometheus::ClientMetric& metric, const std::string& name)
    {
      for (const prometheus::ClientMetric::Label& label : metric.label)
      {
        if (label.name == name)
        {
          return label.value;
        }
      }

      return {};
    }


    void AddTotals(std::map<std::string, double>& figures, const prometheus::MetricFamily& family)
    {
      for (const prometheus::ClientMetric& metric : family.metric)
      {
        if (family.name == "orthanc_perf_ingest_instances_total")
        {
          figures["orthanc_perf_" + GetLabel(metric, "outcome") + "_instances"] +=
              metric.counter.value;
        }
        else if (family.name == "orthanc_perf_ingest_bytes_total")
        {
          figures["orthanc_perf_received_bytes"] += metric.counter.value;
        }
        else if (family.name == "orthanc_perf_ingest_in_flight")
        {
          figures["orthanc_perf_instances_in_flight"] += metric.gauge.value;
        }
      }
    }
  }


  std::map<std::string, double> GetMainFigures(const prometheus::Collectable& ingestMetrics,
                                               const RecentTraffic& traffic)
  {
    std::map<std::string, double> figures;

    for (const prometheus::MetricFamily& family : ingestMetrics.Collect())
    {
      AddTotals(figures, family);
    }

    const WindowSummary window = traffic.Summarize().front();
    const TrafficSummary& received =
        window.directions.at(static_cast<std::size_t>(Direction::Receive));

    figures["orthanc_perf_received_instances_per_second"] = received.instancesPerSecond;
    figures["orthanc_perf_received_bytes_per_second"] = received.bytesPerSecond;
    figures["orthanc_perf_stall_seconds_per_second"] =
        ToSeconds(received.stallTime) / ToSeconds(window.covered);
    return figures;
  }
}
