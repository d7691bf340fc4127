// SPDX-License-Identifier: GPL-3.0-or-later
#include "Admission/AdmissionQueue.h"
#include "Advisor/Rule.h"

#include <algorithm>
#include <cmath>

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
    constexpr MemoryOption MEMORY_OPTIONS[] = {{"MaximumStorageCacheSize", 128, {1, 10, 0}},
                                               {"StorageMemoryCapacity", 512, THREE_CACHES},
                                               {"DicomParserCacheSize", 256, THREE_CACHES},
                                               {"DicomParserMemoryCapacity", 256, THREE_CACHES},
                                               {"TranscoderCacheSize", 256, THREE_CACHES},
                                               {"TranscoderMemoryCapacity", 256, THREE_CACHES}};

    constexpr double MEGABYTE = 1024 * 1024;

    // The rest is for what is being received, the database, and Orthanc itself: some hundred MB,
    // and the files of all that arrives at once
    constexpr double LARGEST_SHARE = 0.5;

    // What to come down to, and not below, in megabytes
    constexpr double PROPOSED_SHARE = 0.25;
    constexpr double LEAST = 16;

    std::optional<Judgement> JudgeMemory(const Evidence& evidence)
    {
      const ServerFacts& facts = evidence.facts;
      const auto memory = static_cast<double>(facts.memory);
      Judgement judgement({{"Memory", static_cast<Json::UInt64>(facts.memory)}});
      double sum = 0;

      for (const MemoryOption& option : MEMORY_OPTIONS)
      {
        if (!facts.IsOlderThan(option.since))
        {
          const std::uint64_t value = facts.Get(option.name, option.defaultValue);
          judgement.document[option.name] = static_cast<Json::UInt64>(value);
          judgement.figures[option.name] = static_cast<double>(value) * MEGABYTE;
          sum += static_cast<double>(value) * MEGABYTE;
        }
      }

      if (facts.memory == 0 || sum <= LARGEST_SHARE * memory)
      {
        return std::nullopt;
      }

      for (Json::Value& value : judgement.document)
      {
        const double proposed = value.asDouble() * PROPOSED_SHARE * memory / sum;
        value = static_cast<Json::UInt64>(std::min(value.asDouble(), std::max(proposed, LEAST)));
      }

      judgement.words["Caches"] = sum;
      return judgement;
    }

    // Of the memory that Orthanc may have: the rest of the machine, and what is mapped of files,
    // may take what is left
    constexpr double ALMOST_ALL = 0.75;

    // Of that, what large images took, or to hold them back would not help: the rest is caches and
    // what else runs in this process
    constexpr double REAL_PART = 0.25;

    // In seconds: all sums fade alike, so that their share alone would never end
    constexpr double MINIMUM_WAIT = 1;

    // With a budget: messages wait for memory, on purpose. Is it worth anybody's while?
    std::optional<Judgement> JudgeWaits(const Evidence& evidence)
    {
      const MemoryEvidence& memory = evidence.memory;
      const double share = memory.received > 0 ? std::min(memory.waited / memory.received, 1.0) : 0;
      const auto givenUp = static_cast<Json::Int64>(std::lround(memory.givenUp));
      return JudgeIf(givenUp > 0 || (evidence.received.instances > 0 &&
                                     memory.waited >= MINIMUM_WAIT && share >= MINIMUM_SHARE),
                     {{"Memory", static_cast<Json::UInt64>(evidence.facts.memory)},
                      {"IngestBudget", static_cast<Json::UInt64>(memory.budget)},
                      {"Waits", static_cast<Json::Int64>(std::lround(memory.waits))},
                      {"Waited", memory.waited},
                      {"GivenUp", givenUp}},
                     Cost{share, std::nullopt}, givenUp == 0 ? "" : "given up");
    }

    // Without: what the large images that were there at once took, about. Of those that are at work
    // on average, as many as there were large ones.
    double EstimateTaken(const TrafficBucket& received, double meanSize)
    {
      const double atOnce = received.activeSeconds > 0
                                ? received.GetTotalSeconds() / received.activeSeconds
                                : received.largeInstances;
      return meanSize * AdmissionQueue::COPIES *
             std::max(1.0, std::min(atOnce, received.largeInstances));
    }

    std::optional<Judgement> JudgePeak(const Evidence& evidence)
    {
      const TrafficBucket& received = evidence.received;
      const auto peak = static_cast<double>(evidence.memory.recentPeak);
      const auto memory = static_cast<double>(evidence.facts.memory);
      const double mean = received.largeBytes / received.largeInstances;

      // A few large images are most of what comes, however many small ones come beside them
      return JudgeIf(memory > 0 && peak >= ALMOST_ALL * memory && received.largeInstances > 0 &&
                         received.largeBytes >= received.bytes / 2 &&
                         EstimateTaken(received, mean) >= REAL_PART * peak,
                     {{"Memory", static_cast<Json::UInt64>(evidence.facts.memory)},
                      {"Peak", peak},
                      {"MeanSize", mean}},
                     {}, evidence.memory.canWait ? "peak" : "peak, no probe",
                     {{"Copies", AdmissionQueue::COPIES}});
    }

    std::optional<Judgement> JudgeIngestMemory(const Evidence& evidence)
    {
      return evidence.memory.budget == 0 ? JudgePeak(evidence) : JudgeWaits(evidence);
    }
  }

  std::vector<Rule> MakeMemoryRules()
  {
    return {{"memory-limit", &JudgeMemory}, {"ingest-memory", &JudgeIngestMemory}};
  }
}
