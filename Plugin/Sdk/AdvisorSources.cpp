// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/AdvisorSources.h"

#include "Admission/MemoryLimit.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::chrono::minutes STORE_PERIOD(1);
    constexpr std::chrono::hours LOOKUP_PERIOD(1);

    // Below that, no look-up takes long, nor is it known of a store that could not be counted
    constexpr std::uint64_t SMALL_STORE = 10'000;
    constexpr unsigned int LOOKUPS = 3;

    // How long an answer is good for. A disk has to sync.
    constexpr std::chrono::seconds DATABASE_PERIOD(1);
    constexpr std::chrono::seconds DISK_PERIOD(10);

    // A file system may hang for ever, and a thread that waits for it cannot be interrupted: it is
    // left behind, and may outlive the plugin's objects
    void PostDetached(std::function<void()> work)
    {
      std::thread(std::move(work)).detach();
    }
  }

  AdvisorSources::AdvisorSources(const Orthanc& orthanc, const Json::Value& configuration,
                                 const ServerConfiguration& server, const EngineDirectory& engines,
                                 const InstanceTracker& tracker, std::atomic<Served>& served) :
    orthanc_(orthanc),
    engines_(engines),
    tracker_(tracker),
    served_(served)
  {
    facts_.configuration = configuration;
    facts_.orthancVersion = orthanc.GetVersion();
    facts_.cores = std::max(std::thread::hardware_concurrency(), 1U);
    facts_.databaseSection = server.databaseSection;
    facts_.indexFile = server.indexDirectory.empty() ? "" : server.indexDirectory + "/index";
  }

  // The keys are there since Orthanc 1.2.0; a release without them has no such plugins
  void AdvisorSources::ReadServed()
  {
    const Json::Value system = orthanc_.GetFromRestApi("/system");
    const std::lock_guard lock(mutex_);
    facts_.hasDatabasePlugin = system["DatabaseBackendPlugin"].isString();
    served_ = {system["StorageAreaPlugin"].isString(), facts_.hasDatabasePlugin};
    isServedKnown_ = true;
  }

  std::optional<Served> AdvisorSources::GetServed()
  {
    const std::lock_guard lock(mutex_);
    return isServedKnown_ ? std::make_optional(served_.load()) : std::nullopt;
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
      ReadServed();
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

  std::vector<HealthWatch::Part> MakeHealthParts(const Orthanc& orthanc,
                                                 const ServerConfiguration& server,
                                                 AdvisorSources& sources, HealthWatch::Post post)
  {
    const auto checkDatabase = [&orthanc, &sources,
                                &section = server.databaseSection]() -> std::string
    {
      try
      {
        orthanc.GetFromRestApi("/changes?last");  // one row of a table, by its key
      }
      catch (const std::exception& error)
      {
        return error.what();
      }

      const std::optional<Served> served = sources.GetServed();

      // What it stores then, no other server of the fleet would find
      return served && !served->isDatabase && !section.empty()
                 ? "the index is SQLite's, though the configuration has \"" + section +
                       "\": is its plugin loaded, and \"EnableIndex\" true?"
                 : std::string();
    };
    const auto makeDisk = [&sources](const std::string& name, const std::string& folder, auto isOwn)
    {
      const auto findCheck = [&sources, folder, isOwn]
      {
        const std::optional<Served> served = sources.GetServed();
        return served && isOwn(*served)
                   ? HealthWatch::Check([folder] { return TryToStore(folder); })
                   : HealthWatch::Check();
      };
      return HealthWatch::Part{name, DISK_PERIOD, findCheck, &PostDetached};
    };

    std::vector<HealthWatch::Part> parts = {
        {"Database", DATABASE_PERIOD, [checkDatabase] { return checkDatabase; }, std::move(post)}};

    if (!server.storageDirectory.empty())
    {
      const bool isOneDisk = server.indexDirectory == server.storageDirectory;
      parts.push_back(makeDisk("Storage", server.storageDirectory,
                               [](const Served& served) { return !served.isStorage; }));
      parts.push_back(makeDisk("Index", server.indexDirectory,
                               [isOneDisk](const Served& served)
                               { return !served.isDatabase && (served.isStorage || !isOneDisk); }));
    }

    return parts;
  }
}
