// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/AdvisorSources.h"

#include "Admission/MemoryLimit.h"

#include <algorithm>
#include <thread>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::chrono::minutes STORE_PERIOD(1);
  }


  Served ReadServed(const Json::Value& system)
  {
    return {system["StorageAreaPlugin"].isString(), system["DatabaseBackendPlugin"].isString()};
  }


  AdvisorSources::AdvisorSources(const Orthanc& orthanc, const Json::Value& configuration,
                                 bool hasOtherFilters, const EngineDirectory& engines,
                                 const InstanceTracker& tracker) :
    orthanc_(orthanc),
    engines_(engines),
    tracker_(tracker)
  {
    facts_.configuration = configuration;
    facts_.orthancVersion = orthanc.GetVersion();
    facts_.cores = std::max(std::thread::hardware_concurrency(), 1U);
    facts_.hasOtherFilters = hasOtherFilters;
  }


  void AdvisorSources::SetServed(Served served)
  {
    const std::lock_guard lock(mutex_);
    served_ = served;
    facts_.hasDatabasePlugin = served.isDatabase;
  }


  std::optional<Served> AdvisorSources::GetServed()
  {
    const std::lock_guard lock(mutex_);
    return served_;
  }


  void AdvisorSources::AddTo(Evidence& evidence)
  {
    evidence.stuck = tracker_.ListStuck(Clock::now());
    evidence.engines = engines_.GetVerdicts();

    {
      const std::lock_guard lock(mutex_);
      evidence.facts = facts_;
    }

    evidence.facts.kernel = KernelLimits::Read();
    evidence.facts.memory = ReadMemoryLimit();
  }


  void AdvisorSources::ReadStore()
  {
    const TimePoint now = Clock::now();

    if (storeReadAt_ != TimePoint() && now - storeReadAt_ < STORE_PERIOD)
    {
      return;
    }

    storeReadAt_ = now;

    try
    {
      SetServed(ReadServed(orthanc_.GetFromRestApi("/system")));
      const Json::Value statistics = orthanc_.GetFromRestApi("/statistics");
      const std::lock_guard lock(mutex_);
      facts_.storedInstances = statistics["CountInstances"].asUInt64();
    }
    catch (const SdkError&)
    {
      // Orthanc's own log has the reason
    }
  }
}
