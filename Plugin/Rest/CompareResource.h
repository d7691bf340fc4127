// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/IJob.h"
#include "Rest/RestRouter.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Transcoding/Transcoder.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // What a comparison needs of Orthanc: its store, and its jobs. Any thread may call it.
  class IComparisonHost
  {
  public:
    virtual ~IComparisonHost() = default;

    // Returns when the engines are known, some seconds after the start of Orthanc
    virtual void WaitForEngines() const = 0;

    // The instances of a series, or the instance itself; nothing if there is neither
    virtual std::optional<std::vector<std::string>>
    FindInstances(const std::string& resource) const = 0;

    // The file of an instance; throws std::exception if there is none
    virtual std::string LoadFile(const std::string& instance) const = 0;

    // Hands the job to the jobs engine: its identifier
    virtual std::string Submit(std::unique_ptr<IJob> job, int priority) = 0;

    // Whether this job is still to be done, or paused: it may go on
    virtual bool IsUnfinished(const std::string& jobId) const = 0;
  };


  // POST /perf/transcoding/compare: each engine on a stored instance or series, as a job of
  // Orthanc's. One at a time, so that they measure the engines and not each other, and so that
  // nobody can fill the server with them: 409 as long as there is another. The observer is told of
  // each encoding. All of them must outlive the router.
  void RegisterCompareResource(RestRouter& router, const EngineDirectory& engines,
                               IComparisonHost& host, ITranscodingObserver& observer);
}
