// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // An option in megabytes, and its default
    struct MemoryOption
    {
      const char* name;
      std::uint64_t defaultValue;
      OrthancRelease since;
    };


    constexpr OrthancRelease THREE_CACHES = {1, 13, 0};

    // Three caches, and what the threads before each of them may hold (AdvancedConfiguration.json
    // of Orthanc 1.13.0). They fill up as images are read, sent and shown.
    constexpr MemoryOption OPTIONS[] = {{"MaximumStorageCacheSize", 128, {1, 10, 0}},
                                        {"StorageMemoryCapacity", 512, THREE_CACHES},
                                        {"DicomParserCacheSize", 256, THREE_CACHES},
                                        {"DicomParserMemoryCapacity", 256, THREE_CACHES},
                                        {"TranscoderCacheSize", 256, THREE_CACHES},
                                        {"TranscoderMemoryCapacity", 256, THREE_CACHES}};

    constexpr double MEGABYTE = 1024 * 1024;

    // The rest is for what is being received, the database, and Orthanc itself: some hundred MB,
    // and the files of all that arrives at once
    constexpr double LARGEST_SHARE = 0.5;

    // What to come down to, and not below
    constexpr double PROPOSED_SHARE = 0.25;
    constexpr std::uint64_t LEAST = 16;


    std::uint64_t Propose(std::uint64_t value, double factor)
    {
      return value == 0
                 ? 0
                 : std::max(static_cast<std::uint64_t>(static_cast<double>(value) * factor), LEAST);
    }
  }


  std::optional<Finding> JudgeMemory(const Evidence& evidence)
  {
    const ServerFacts& facts = evidence.facts;
    const double memory = static_cast<double>(facts.memory);
    Finding finding;
    Json::Value options;
    double sum = 0;

    for (const MemoryOption& option : OPTIONS)
    {
      if (!facts.IsOlderThan(option.since))
      {
        const std::uint64_t value = facts.GetNumber(option.name, option.defaultValue);
        const double bytes = static_cast<double>(value) * MEGABYTE;
        options[option.name] = static_cast<Json::UInt64>(value);
        finding.evidence[option.name] = bytes;
        sum += bytes;
      }
    }

    if (facts.memory == 0 || sum <= LARGEST_SHARE * memory)
    {
      return std::nullopt;
    }

    for (Json::Value& value : options)
    {
      value = static_cast<Json::UInt64>(Propose(value.asUInt64(), PROPOSED_SHARE * memory / sum));
    }

    finding.id = "memory-limit";
    finding.title =
        "Orthanc's caches may take " + SaySize(sum) + " of " + SaySize(memory) + " of memory";
    finding.explanation =
        "That is what the machine has, or what its control group (a container, a service) allows. "
        "The caches fill up as images are read, sent and shown; what is received comes on top. "
        "When nothing is left, Linux ends Orthanc.";
    finding.evidence["Memory"] = static_cast<Json::UInt64>(facts.memory);
    finding.remedy = Remedy::Configure(
        options, "Make them smaller (in megabytes), or allow Orthanc more memory.");
    return finding;
  }
}
