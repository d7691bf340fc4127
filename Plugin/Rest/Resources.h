// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Advisor.h"
#include "Advisor/HealthWatch.h"
#include "Answers/AnswerCompression.h"
#include "Ingest/InstanceTracker.h"
#include "Ingest/RecentInstances.h"
#include "Metrics/History.h"
#include "Metrics/MetricTable.h"
#include "Metrics/PeerStatistics.h"
#include "Metrics/RecentRequests.h"
#include "Metrics/ServerTraffic.h"
#include "Network/Probe.h"
#include "Redirection/PluginLock.h"
#include "Rest/RestRouter.h"
#include "Transcoding/EngineFailures.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Tuning/TuningStore.h"

#include <json/value.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace OrthancPerf
{
  // How the plugin itself is doing, as /perf/status shows it: what it could hook, what it had to
  // warn of, what failed in it. Owned by the plugin's context; any thread may call it. Memory is
  // bounded: the callbacks have fixed names, and warnings that repeat are kept once, a hundred at
  // the most.
  class PluginState
  {
  public:
    // A hook by its name; the reason says why it could not be installed
    void SetHook(const std::string& hook, bool isInstalled, const std::string& reason = {})
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      Json::Value& state = state_["Hooks"][hook];
      state = Json::objectValue;
      state["Installed"] = isInstalled;

      if (!reason.empty())
      {
        state["Reason"] = reason;
      }
    }

    void AddWarning(const std::string& warning)
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      Json::Value& warnings = state_["Warnings"];

      if (warnings.size() < MAXIMUM_WARNINGS &&
          std::find(warnings.begin(), warnings.end(), Json::Value(warning)) == warnings.end())
      {
        warnings.append(warning);
      }
    }

    // An exception that a callback of Orthanc's ended with, and that stayed in the plugin. True
    // for the first failure of this callback.
    bool AddFailure(const std::string& callback)
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      Json::Value& count = state_["CallbackFailures"][callback];
      count = count.asUInt64() + 1;
      return count == 1;
    }

    Json::Value Get() const
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      return state_;
    }

  private:
    static constexpr Json::ArrayIndex MAXIMUM_WARNINGS = 100;

    static Json::Value MakeEmpty()
    {
      Json::Value state;
      state["Hooks"] = Json::objectValue;
      state["CallbackFailures"] = Json::objectValue;
      state["Warnings"] = Json::arrayValue;
      return state;
    }

    mutable std::mutex mutex_;
    Json::Value state_ = MakeEmpty();
  };

  // Each function registers the routes of one subject, which openapi.yaml describes; all that it is
  // given must outlive the router

  void RegisterMetricsResource(RestRouter& router, std::function<MetricFigures()> gather);

  void RegisterHealthResource(RestRouter& router, HealthWatch& watch);

  void RegisterAdviceResource(RestRouter& router, Advisor& advisor);

  // GET /perf/instances?limit=&peer=&origin=&direction=&outcome= and GET /perf/instances/{id}
  void RegisterInstancesResource(RestRouter& router, const RecentInstances& instances);

  // GET /perf/requests?limit=&class=&client=
  void RegisterRequestsResource(RestRouter& router, const RecentRequests& requests);

  void RegisterPeersResource(RestRouter& router, PeerStatistics& peers);

  // GET /perf/history?resolution=&since=
  void RegisterHistoryResource(RestRouter& router, History& history, const TuningStore& tuning);

  // What "Transcoding" in /perf/status is made of
  struct TranscodingSources
  {
    const EngineDirectory& engines;
    const EngineFailures& failures;
    const PluginLock& lock;

    // Whether the self-test of the engines is over
    std::function<bool()> isTested;

    // Why received instances are not transcoded as the tuning asks; empty: they are
    std::function<std::string()> getProblem;
  };

  struct StatusSources
  {
    Json::Value versions;
    std::chrono::system_clock::time_point startedAt;
    const PluginState& state;
    const InstanceTracker& tracker;
    const ServerTraffic& traffic;
    const TuningStore& tuning;
    bool isTuningAllowed;  // "AllowTuning"
    const Probe& probe;
    const AnswerCompression& answers;
    const ConnectionTracker& connections;
    TranscodingSources transcoding;
  };

  void RegisterStatusResource(RestRouter& router, const StatusSources& sources);

  struct TuningResourceSources
  {
    TuningStore& store;
    Json::Value configuration;                     // the tuning document of the configuration
    bool isAllowed;                                // "AllowTuning": PUT and DELETE
    std::function<void(const std::string&)> warn;  // of what could not be saved
  };

  // GET, PUT and DELETE /perf/tuning: the tuning document in force. PUT merges (RFC 7396), DELETE
  // returns to the configuration; both answer with the document that is then in force, or with
  // 403 where they are not allowed. What could not be saved is in force all the same. GET with
  // "sources" says where each value comes from.
  void RegisterTuningResource(RestRouter& router, const TuningResourceSources& sources);

  // A file of the dashboard, as it was embedded in the library when that was built. A value; what
  // it refers to lives as long as the library.
  struct DashboardFile
  {
    std::string_view name;  // "app.js"
    std::string_view contentType;
    std::string_view content;
    std::string_view tag;  // changes with the content
  };

  // The files that WebApp/embed.mjs has embedded, "index.html" among them; none if the library was
  // built without the dashboard (Resources/CMake/NoDashboard.cpp)
  std::vector<DashboardFile> GetDashboardFiles();

  // GET /perf: the dashboard for a browser ("Accept: text/html"), for all others the routes as
  // JSON; and GET /perf/app/…, the files that the dashboard loads. A Content-Security-Policy keeps
  // the page from loading or sending anything elsewhere. To be registered last, as the routes are
  // listed when they are asked for. The router must outlive its own handlers.
  void RegisterDashboardResource(RestRouter& router, const std::vector<DashboardFile>& files);
}
