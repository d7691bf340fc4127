// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/ComparisonHost.h"

#include "Sdk/Job.h"

#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // What GET /jobs/{id} calls the job
    constexpr const char* TYPE = "PerfTranscodingComparison";
  }


  ComparisonHost::ComparisonHost(const Orthanc& orthanc, std::function<void()> waitForEngines) :
    orthanc_(orthanc),
    waitForEngines_(std::move(waitForEngines))
  {
  }


  void ComparisonHost::WaitForEngines() const
  {
    waitForEngines_();
  }


  std::optional<std::vector<std::string>>
  ComparisonHost::FindInstances(const std::string& resource) const
  {
    if (const auto series = orthanc_.FindInRestApi("/series/" + resource))
    {
      std::vector<std::string> instances;
      for (const Json::Value& instance : (*series)["Instances"])
      {
        instances.push_back(instance.asString());
      }
      return instances;
    }

    if (orthanc_.FindInRestApi("/instances/" + resource))
    {
      return std::vector<std::string>{resource};
    }

    return std::nullopt;
  }


  std::string ComparisonHost::LoadFile(const std::string& instance) const
  {
    return orthanc_.GetInstanceFile(instance);
  }


  std::string ComparisonHost::Submit(std::unique_ptr<IJob> job, int priority)
  {
    return SubmitJob(orthanc_, TYPE, std::move(job), priority);
  }


  bool ComparisonHost::IsUnfinished(const std::string& jobId) const
  {
    const auto job = orthanc_.FindInRestApi("/jobs/" + jobId);
    const std::string state = job ? (*job)["State"].asString() : "";
    return state == "Pending" || state == "Running" || state == "Paused" || state == "Retry";
  }
}
