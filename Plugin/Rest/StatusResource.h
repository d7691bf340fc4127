// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Answers/AnswerCompression.h"
#include "Ingest/InstanceTracker.h"
#include "Metrics/RecentTraffic.h"
#include "Network/MessageRecorder.h"
#include "Network/Probe.h"
#include "Rest/PluginState.h"
#include "Rest/RestRouter.h"
#include "Rest/TranscodingStatus.h"
#include "Tuning/TuningStore.h"

#include <chrono>
#include <string>

namespace OrthancPerf
{
  // The versions that /perf/status names
  struct Versions
  {
    std::string plugin;
    std::string orthanc;  // the one that runs
    std::string sdk;      // the one that the plugin was built with
  };

  // What /perf/status is made of. All must outlive the router.
  struct StatusSources
  {
    Versions versions;
    std::chrono::system_clock::time_point startedAt;
    const PluginState& state;
    const InstanceTracker& tracker;
    const RecentTraffic& traffic;
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
