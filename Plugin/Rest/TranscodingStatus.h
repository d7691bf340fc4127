// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Redirection/PluginLock.h"
#include "Transcoding/EngineFailures.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Transcoding/Transcoder.h"

#include <json/value.h>

#include <functional>
#include <string>

namespace OrthancPerf
{
  // What "Transcoding" in /perf/status is made of. All must outlive the router.
  struct TranscodingSources
  {
    const EngineDirectory& engines;
    const Transcoder& transcoder;
    const EngineFailures& failures;
    const PluginLock& lock;

    // Whether the self-test of the engines is over
    std::function<bool()> isTested;

    // Why received instances are not transcoded as the tuning asks; empty: they are
    std::function<std::string()> getProblem;
  };

  // The engines, what each proved to be able to do, what "auto" makes of it, and what failed
  Json::Value DescribeTranscoding(const TranscodingSources& sources);
}
