// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/IJob.h"
#include "Rest/RestRouter.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Transcoding/TranscodingReport.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // The body of POST /perf/transcoding/compare. A value.
  struct CompareRequest
  {
    // Some minutes of work at most, for images of the usual size
    static constexpr std::size_t MAXIMUM_INSTANCES = 1000;

    std::string resource;              // Orthanc's identifier of an instance or a series
    std::vector<std::string> targets;  // transfer syntax UIDs, each once
    std::vector<std::string> engines;  // names, each once
    std::size_t maximumInstances = 20;
    unsigned int lossyQuality = 90;
    int priority = 0;
  };

  // Reads the body, where "engines" are the names of all engines that there are. Throws
  // SettingError, which names the key. Any thread.
  CompareRequest ReadCompareRequest(const std::string& body,
                                    const std::vector<std::string>& engines);

  // That many at most, from the whole length of the series: its first images may be unlike the rest
  std::vector<std::string> SpreadOut(const std::vector<std::string>& instances,
                                     std::size_t maximum);


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
