// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <boost/algorithm/string/join.hpp>

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr OrthancRelease POOLS = {1, 13, 0};

    // An option about threads and caches, and the releases that it is for: not before "since", and
    // perhaps replaced from "until" on (NEWS of Orthanc)
    struct PerformanceOption
    {
      const char* name;
      OrthancRelease since;
      std::optional<OrthancRelease> until = {};
    };


    constexpr PerformanceOption OPTIONS[] = {{"ZipLoaderThreads", {1, 10, 0}, POOLS},
                                             {"LoaderThreads", {1, 12, 11}, POOLS},
                                             {"MaximumStorageCacheSize", {1, 10, 0}},
                                             {"MaximumConcurrentDcmtkTranscoders", {1, 12, 6}},
                                             {"StorageLoaderThreadsCount", POOLS},
                                             {"StorageMemoryCapacity", POOLS},
                                             {"DicomParserThreadsCount", POOLS},
                                             {"DicomParserCacheSize", POOLS},
                                             {"DicomParserMemoryCapacity", POOLS},
                                             {"TranscoderThreadsCount", POOLS},
                                             {"TranscoderCacheSize", POOLS},
                                             {"TranscoderMemoryCapacity", POOLS},
                                             {"SequentialDicomReaderThreadsCount", POOLS},
                                             {"SequentialDicomReaderWindowSize", POOLS},
                                             {"SequentialDicomReaderWindowCapacity", POOLS}};

    constexpr const char* STORAGE_THREADS = "StorageLoaderThreadsCount";
    constexpr const char* WINDOW = "SequentialDicomReaderWindowSize";


    // What 1.13.0 makes of the older options where the newer ones are missing (its constructor
    // ServerContext::ServerContext), but for a window below its own default: older configuration
    // files have "ZipLoaderThreads": 0 (to 1.12.10) or "LoaderThreads": 1, of which comes a window
    // of one
    Json::Value Translate(const ServerFacts& facts)
    {
      constexpr std::uint64_t LEAST_THREADS = 4;
      constexpr std::uint64_t MOST_THREADS = 50;
      constexpr std::uint64_t DEFAULT_WINDOW = 4;

      const std::uint64_t zipThreads = facts.GetNumber("ZipLoaderThreads", 1);
      const std::uint64_t older =
          std::max<std::uint64_t>(facts.GetNumber("LoaderThreads", zipThreads), 1);
      const std::uint64_t jobs = facts.GetNumber("ConcurrentJobs", 2);
      const std::uint64_t threads =
          std::clamp(older * (jobs == 0 ? facts.cores : jobs), LEAST_THREADS, MOST_THREADS);

      Json::Value options;
      options[STORAGE_THREADS] =
          static_cast<Json::UInt64>(facts.GetNumber(STORAGE_THREADS, threads));
      options[WINDOW] =
          static_cast<Json::UInt64>(facts.GetNumber(WINDOW, std::max(older, DEFAULT_WINDOW)));
      return options;
    }
  }


  std::optional<Finding> JudgeOptions(const Evidence& evidence)
  {
    const ServerFacts& facts = evidence.facts;
    std::vector<std::string> unknown;
    std::vector<std::string> replaced;

    for (const PerformanceOption& option : OPTIONS)
    {
      const bool isSet = facts.configuration.isMember(option.name);

      if (isSet && facts.IsOlderThan(option.since))
      {
        unknown.emplace_back(option.name);
      }
      else if (isSet && option.until && !facts.IsOlderThan(*option.until))
      {
        replaced.emplace_back(option.name);
      }
    }

    const bool isComplete =
        facts.configuration.isMember(STORAGE_THREADS) && facts.configuration.isMember(WINDOW);

    if (unknown.empty() && (replaced.empty() || isComplete))
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "foreign-options";
    finding.title = "Options about threads and caches are for another release of Orthanc";
    finding.explanation =
        unknown.empty()
            ? "What replaced them is not set, and 1.13.0 derives it from them. Of "
              "\"ZipLoaderThreads\": 0 or \"LoaderThreads\": 1, as older configuration files have "
              "them, comes a window of one instance, where the default is four: Orthanc hardly "
              "reads "
              "ahead when it sends or makes archives."
            : "Orthanc " + facts.orthancVersion + " has no such options, and does not say so.";

    if (!unknown.empty())
    {
      finding.evidence["OfNewerReleases"] = boost::algorithm::join(unknown, ", ");
    }

    if (!replaced.empty())
    {
      finding.evidence["OfOlderReleases"] = boost::algorithm::join(replaced, ", ");
    }

    finding.remedy =
        unknown.empty()
            ? Remedy::Configure(Translate(facts), "Set the newer ones, and remove the older ones.")
            : Remedy::ChangeSystem("Remove them from the configuration, or upgrade Orthanc.");
    return finding;
  }
}
