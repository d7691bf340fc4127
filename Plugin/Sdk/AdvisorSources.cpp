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
    constexpr std::chrono::hours LOOKUP_PERIOD(1);

    // Below that, no look-up takes long, nor is it known of a store that could not be counted
    constexpr std::uint64_t SMALL_STORE = 10'000;
    constexpr unsigned int LOOKUPS = 3;
  }


  Served ReadServed(const Json::Value& system)
  {
    return {system["StorageAreaPlugin"].isString(), system["DatabaseBackendPlugin"].isString()};
  }


  AdvisorSources::AdvisorSources(const Orthanc& orthanc, const Json::Value& configuration,
                                 const ServerConfiguration& server, const EngineDirectory& engines,
                                 const InstanceTracker& tracker) :
    orthanc_(orthanc),
    engines_(engines),
    tracker_(tracker)
  {
    facts_.configuration = configuration;
    facts_.orthancVersion = orthanc.GetVersion();
    facts_.cores = std::max(std::thread::hardware_concurrency(), 1U);
    facts_.databaseSection = server.databaseSection;
    facts_.indexFile = server.indexDirectory.empty() ? "" : server.indexDirectory + "/index";
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
      const std::uint64_t count = statistics["CountInstances"].asUInt64();

      {
        const std::lock_guard lock(mutex_);
        facts_.storedInstances = count;
      }

      if (count >= SMALL_STORE && !GetServed()->isDatabase &&
          (lookupsTimedAt_ == TimePoint() || now - lookupsTimedAt_ >= LOOKUP_PERIOD))
      {
        lookupsTimedAt_ = now;
        const double lookupTime = TimeLookups();
        const std::lock_guard lock(mutex_);
        facts_.lookupTime = lookupTime;
      }
    }
    catch (const SdkError&)
    {
      // Orthanc's own log has the reason
    }
  }


  // The shortest one: what else the machine does is not the database's fault
  double AdvisorSources::TimeLookups() const
  {
    Duration shortest = Duration::max();

    for (unsigned int i = 0; i < LOOKUPS; i++)
    {
      const TimePoint begin = Clock::now();
      orthanc_.LookUp("0.0");  // no root of a UID: no instance has it
      shortest = std::min(shortest, Clock::now() - begin);
    }

    return ToSeconds(shortest);
  }
}
