// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/AdvisorSources.h"

#include "Admission/MemoryLimit.h"
#include "Advisor/EngineOutlook.h"

#include <algorithm>
#include <array>
#include <thread>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::chrono::seconds LOG_LEVELS_PERIOD(2);
    constexpr std::chrono::minutes STORE_PERIOD(1);

    // The categories of Orthanc's logs that write lines for an instance (since Orthanc 1.8.1)
    constexpr std::array<const char*, 5> CATEGORIES = {"", "dicom", "http", "plugins", "sqlite"};


    // Whether it is time again; if so, from now on it is not
    bool IsDue(TimePoint& latest, Duration period)
    {
      const TimePoint now = Clock::now();

      if (latest != TimePoint() && now - latest < period)
      {
        return false;
      }

      latest = now;
      return true;
    }
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


  void AdvisorSources::Start()
  {
    const std::lock_guard lock(mutex_);
    isStarted_ = true;
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


  ServerFacts AdvisorSources::GetFacts()
  {
    const std::lock_guard lock(mutex_);

    if (isStarted_)
    {
      ReadLogLevels();
    }

    facts_.kernel = KernelLimits::Read();
    facts_.memory = ReadMemoryLimit();
    return facts_;
  }


  std::vector<StuckInstance> AdvisorSources::ListStuck()
  {
    return tracker_.ListStuck(Clock::now());
  }


  TranscodingEvidence AdvisorSources::GetEngines(const Tuning& tuning)
  {
    return DescribeEngines(engines_.GetVerdicts(), tuning.ingestTranscoding);
  }


  void AdvisorSources::ReadLogLevels()
  {
    if (!IsDue(logLevelsReadAt_, LOG_LEVELS_PERIOD))
    {
      return;
    }

    facts_.logLevels.clear();

    for (const std::string category : CATEGORIES)
    {
      const std::string uri = "/tools/log-level" + (category.empty() ? "" : "-" + category);

      try
      {
        if (const std::optional<std::string> level = orthanc_.FindTextInRestApi(uri))
        {
          facts_.logLevels[category] = *level;
        }
      }
      catch (const SdkError&)
      {
        // Not known; Orthanc's own log has the reason
      }
    }
  }


  void AdvisorSources::ReadDatabasePlugin()
  {
    // "facts_.configuration" never changes
    if (isDatabasePluginRead_ || !facts_.IsPostgreSql())
    {
      return;
    }

    const std::optional<Json::Value> plugin = orthanc_.FindInRestApi("/plugins/postgresql-index");
    isDatabasePluginRead_ = true;

    if (plugin && (*plugin)["Version"].isString())
    {
      const std::lock_guard lock(mutex_);
      facts_.postgreSqlVersion = (*plugin)["Version"].asString();
    }
  }


  void AdvisorSources::ReadStore()
  {
    if (!IsDue(storeReadAt_, STORE_PERIOD))
    {
      return;
    }

    try
    {
      SetServed(ReadServed(orthanc_.GetFromRestApi("/system")));
      ReadDatabasePlugin();
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
