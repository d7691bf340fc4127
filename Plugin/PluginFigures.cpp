// SPDX-License-Identifier: GPL-3.0-or-later
#include "PluginContext.h"
#include "Rest/Resources.h"
#include "Sdk/CompareResource.h"
#include "Tuning/TuningReader.h"

namespace OrthancPerf
{
  namespace
  {
    std::string GetSdkVersion()
    {
      return std::to_string(ORTHANC_PLUGINS_MINIMAL_MAJOR_NUMBER) + "." +
             std::to_string(ORTHANC_PLUGINS_MINIMAL_MINOR_NUMBER) + "." +
             std::to_string(ORTHANC_PLUGINS_MINIMAL_REVISION_NUMBER);
    }
  }

  void PluginContext::RegisterRoutes(const PerfConfiguration& configuration)
  {
    Json::Value versions;
    versions["Plugin"] = PERF_VERSION;
    versions["Orthanc"] = orthanc.GetVersion();
    versions["Sdk"] = GetSdkVersion();  // that the plugin was built with

    RegisterMetricsResource(router, [this] { return GatherMetrics(); });
    RegisterHealthResource(router, health_);
    RegisterStatusResource(router, StatusSources{versions, startedAt_, state, tracker, traffic_,
                                                 tuning_, configuration.allowTuning, probe_,
                                                 answers_, connections, transcoding.GetSources()});
    RegisterInstancesResource(router, recentInstances_);
    RegisterRequestsResource(router, recentRequests_);
    RegisterCompareResource(router, orthanc, transcoding.GetEngines(),
                            [this] { transcoding.WaitForSelfTest(); });
    RegisterPeersResource(router, peers_);
    RegisterHistoryResource(router, history_, tuning_);
    RegisterAdviceResource(router, advisor_);
    RegisterTuningResource(router, TuningResourceSources{tuning_, configuredTuning_,
                                                         configuration.allowTuning,
                                                         [this](const std::string& warning)
                                                         {
                                                           Warn(warning);
                                                         }});
    RegisterDashboardResource(router, GetDashboardFiles());
  }

  MetricFigures PluginContext::GatherMetrics()
  {
    MetricFigures figures;
    figures.version = PERF_VERSION;
    figures.orthancVersion = orthanc.GetVersion();
    figures.startTime = std::chrono::duration<double>(startedAt_.time_since_epoch()).count();
    static_cast<ServerTotals&>(figures) = traffic_.GetTotals();
    figures.peers = peers_.Summarize();
    figures.transcodings = transcoding.GetMetrics().GetTotals();
    figures.budget = probe_.admission.GetFigures();
    figures.droppedEvents = connections.events.CountDropped();
    figures.tuning = ToFigures(*tuning_.Get());
    figures.findings = advisor_.CountFindings();

    for (const Origin origin : GetAllOrigins())
    {
      figures.inFlight.push_back(tracker.CountInFlight(origin));
    }

    return figures;
  }

  void PluginContext::Look()
  {
    const Snapshot snapshot = {connections.ListOpen(Clock::now()),
                               probe_.admission.GetFigures(),
                               probe_.IsInstalled(),
                               traffic_.GetReceived().GetSecondsWithPauses(),
                               ReadProcessMemory("VmHWM:"),
                               AnswerCompression::GetSeconds(),
                               ReadRunnableTasks()};
    history_.Observe(snapshot.associations.size(), snapshot.budget);
    evidence_.Look(snapshot);
  }

  Evidence PluginContext::GatherEvidence()
  {
    Evidence evidence = evidence_.Gather();
    evidence.tuning = *tuning_.Get();
    evidence.served = recentRequests_.Summarize();
    advisorSources_.AddTo(evidence);
    return evidence;
  }

  void PluginContext::RefreshOrthancMetrics()
  {
    Settle();
    const auto set = [this](const std::string& name, double value)
    {
      orthanc.SetMetric("orthanc_perf_" + name, value);
    };
    const TrafficBucket received = traffic_.GetReceived();
    std::size_t inFlight = 0;

    for (const Origin origin : GetAllOrigins())
    {
      inFlight += tracker.CountInFlight(origin);
    }

    for (const Outcome outcome : GetAllOutcomes())
    {
      set(ToLabel(outcome) + std::string("_instances"), received.GetOutcome(outcome));
    }

    set("instances_in_flight", static_cast<double>(inFlight));
    set("received_bytes", received.bytes);

    // Of the last ten seconds
    const std::vector<WindowSummary> windows = traffic_.SummarizeWindows();
    const WindowSummary& window = windows.front();
    const TrafficRates rates = window.GetRates(0);
    set("received_instances_per_second", rates.instances);
    set("received_bytes_per_second", rates.bytes);

    if (const TrafficBucket& recent = window.directions.front(); recent.areStallsObserved)
    {
      set("stall_seconds_per_second", recent.stallSeconds / ToSeconds(window.covered));
    }
  }
}
