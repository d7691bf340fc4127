// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/IngestTracker.h"
#include "Metrics/RecentTraffic.h"
#include "Rest/PluginState.h"
#include "Rest/RestRouter.h"

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

  // GET /perf/status: versions, what is hooked and what is not, and why; rates and percentiles.
  // State, tracker and traffic must outlive the router.
  void RegisterStatusResource(RestRouter& router, const Versions& versions,
                              const PluginState& state, const IngestTracker& tracker,
                              const RecentTraffic& traffic);
}
