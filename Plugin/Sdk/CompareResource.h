// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/RestRouter.h"
#include "Sdk/Orthanc.h"
#include "Transcoding/Engines/EngineDirectory.h"

#include <functional>

namespace OrthancPerf
{
  // POST /perf/transcoding/compare: each engine on a stored instance or series, as a job of
  // Orthanc's. One at a time, so that they measure the engines and not each other, and so that
  // nobody can fill the server with them: 409 as long as there is another. "waitForEngines" returns
  // once the engines' self-test is over. All arguments must outlive the router.
  void RegisterCompareResource(RestRouter& router, const Orthanc& orthanc,
                               const EngineDirectory& engines,
                               const std::function<void()>& waitForEngines);
}
