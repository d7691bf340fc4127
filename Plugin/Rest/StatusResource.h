// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Answers/AnswerCompression.h"
#include "Ingest/InstanceTracker.h"
#include "Metrics/ServerTraffic.h"
#include "Network/MessageRecorder.h"
#include "Network/Probe.h"
#include "Redirection/PluginLock.h"
#include "Rest/PluginState.h"
#include "Rest/RestRouter.h"
#include "Transcoding/EngineFailures.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Tuning/TuningStore.h"

#include <chrono>
#include <functional>
#include <string>

namespace OrthancPerf
{
  // What "Transcoding" in /perf/status is made of. All must outlive the router.
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

  // What /perf/status is made of. All must outlive the router.
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
    const MessageRecorder& recorder;
    TranscodingSources transcoding;
  };

  // GET /perf/status: versions, what is hooked and what is not, and why; what of the tuning is in
  // force on the DICOM connections; what the transcoding engines can do; rates and percentiles.
  void RegisterStatusResource(RestRouter& router, const StatusSources& sources);
}
