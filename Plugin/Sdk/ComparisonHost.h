// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/CompareResource.h"
#include "Sdk/Orthanc.h"

#include <functional>

namespace OrthancPerf
{
  // Orthanc's store and jobs, for comparisons of engines. Owned by the plugin's context; any thread
  // may call it.
  class ComparisonHost : public IComparisonHost
  {
  public:
    // "waitForEngines" returns once the engines' self-test is over
    ComparisonHost(const Orthanc& orthanc, std::function<void()> waitForEngines);

    void WaitForEngines() const override;

    std::optional<std::vector<std::string>>
    FindInstances(const std::string& resource) const override;

    std::string LoadFile(const std::string& instance) const override;
    std::string Submit(std::unique_ptr<IJob> job, int priority) override;
    bool IsUnfinished(const std::string& jobId) const override;

  private:
    const Orthanc& orthanc_;
    const std::function<void()> waitForEngines_;
  };
}
