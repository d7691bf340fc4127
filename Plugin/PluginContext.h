// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Advisor.h"
#include "Advisor/Evidence.h"
#include "Advisor/HealthWatch.h"
#include "Answers/AnswerCompression.h"
#include "Ingest/BackgroundThread.h"
#include "Ingest/InstanceTracker.h"
#include "Ingest/RecentInstances.h"
#include "Metrics/History.h"
#include "Metrics/MetricTable.h"
#include "Metrics/PeerStatistics.h"
#include "Metrics/RecentRequests.h"
#include "Metrics/ServerTraffic.h"
#include "Network/Probe.h"
#include "Rest/Resources.h"
#include "Rest/RestRouter.h"
#include "Sdk/AdvisorSources.h"
#include "Sdk/Orthanc.h"
#include "Sdk/ServerConfiguration.h"
#include "TranscodingContext.h"
#include "Tuning/PerfConfiguration.h"
#include "Tuning/TuningStore.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <set>

namespace OrthancPerf
{
  // All objects of the plugin, from OrthancPluginInitialize to OrthancPluginFinalize, in the order
  // in which they depend on each other. Plugin.cpp owns the one there is and hands Orthanc's
  // callbacks to it.
  class PluginContext
  {
  public:
    // "transcode" and "filterUpload" are registered once the tuning wants them
    PluginContext(OrthancPluginContext* context, const Json::Value& orthancConfiguration,
                  const PerfConfiguration& configuration, OrthancPluginTranscoderCallback transcode,
                  OrthancPluginIncomingHttpRequestFilter2 filterUpload);

    // Orthanc's servers and database are up, from now until Stop. "transcodingProblem": why
    // received instances cannot be replaced by transcoded ones; empty: they can.
    void Start(const std::string& transcodingProblem);
    void Stop();

    // Takes up what has ended meanwhile and was quiet for so long, before anyone looks
    void Settle(Duration quiet = Duration::zero()) noexcept;

    // Tells Orthanc's own /tools/metrics-prometheus, which has no labels, the main figures. Their
    // names are not those of /perf/metrics, so that one Prometheus server can scrape both.
    void RefreshOrthancMetrics();

    // A callback of Orthanc's ended with an exception; Orthanc goes on as if it had not been called
    void OnCallbackFailure(const char* callback, const char* reason) noexcept;

    // Runs the body of a callback, or of a task; whatever fails in it stays here
    template <typename Body>
    void Guard(const char* callback, const Body& body) noexcept
    {
      try
      {
        body();
      }
      catch (const std::exception& error)
      {
        OnCallbackFailure(callback, error.what());
      }
      catch (...)
      {
        OnCallbackFailure(callback, "unknown exception");
      }
    }

    void Warn(const std::string& warning);

  private:
    void OnTuningChanged(const Tuning& tuning) noexcept;
    void RegisterRoutes(const PerfConfiguration& configuration);
    void WarnOfProbe();
    std::optional<std::set<std::string>> ListJobTypes();
    MetricFigures GatherMetrics();
    void Look();
    void LoadTuning();
    void ReadStore();
    void ReadModalities();
    void SetDestinations(const std::vector<Destination>& destinations);

    // "callback" names a failure of the work in log and status
    void Post(BackgroundThread& thread, const char* callback, BackgroundThread::Work work);
    void Repeat(BackgroundThread& thread, const char* callback, Duration pause,
                BackgroundThread::Work work);
    void LimitMemory(const MemoryTuning& settings);
    Evidence GatherEvidence();
    void RegisterUploadFilter();
    void RegisterTranscoder();

  public:
    Orthanc orthanc;
    const ServerConfiguration server;
    PluginState state;
    ConnectionTracker connections;

  private:
    const std::chrono::system_clock::time_point startedAt_ = std::chrono::system_clock::now();
    const OrthancPluginTranscoderCallback transcode_;
    const OrthancPluginIncomingHttpRequestFilter2 filterUpload_;
    std::once_flag isUploadFilterRegistered_;
    std::atomic<bool> isStarted_ = false;
    bool isTranscoderRegistered_ = false;  // changes of the tuning come one after the other
    bool isTuningAsked_ = false;           // what was saved of it
    bool isTuningReported_ = false;        // in the log
    RecentInstances recentInstances_;
    RecentRequests recentRequests_;
    PeerStatistics peers_;
    ServerTraffic traffic_;
    History history_;
    EvidenceCollector evidence_;
    Journal journal_;
    Probe probe_;
    AnswerCompression answers_;

  public:
    InstanceTracker tracker;
    TranscodingContext transcoding;
    RestRouter router;

  private:
    const Json::Value configuredTuning_;
    TuningStore tuning_;
    AdvisorSources advisorSources_;
    Advisor advisor_;
    HealthWatch health_;
    BackgroundThread working_;   // for work that ends soon; until Orthanc has closed its servers
    BackgroundThread asking_;    // for questions that Orthanc answers when its database does
    BackgroundThread checking_;  // the same, for /perf/health, which must not queue behind those
  };
}
