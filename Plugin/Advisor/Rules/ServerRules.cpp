// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rule.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace OrthancPerf
{
  namespace
  {
    // One or two may be files that only Orthanc finds fault with
    constexpr double TOLERATED_FAILURES = 2;

    // As the alert OrthancInstancesFail
    constexpr double MINIMUM_FAILED_SHARE = 0.01;

    // The other rules ask for enough instances to tell what is slow: what is lost is lost, also
    // where nothing else came. The cost is the work on them, which was in vain.
    std::optional<Judgement> JudgeFailures(const Evidence& evidence)
    {
      const TrafficBucket& traffic = evidence.received;
      const double failed = traffic.ownFailures;
      const double share = failed / traffic.instances;
      return JudgeIf(failed > TOLERATED_FAILURES && share >= MINIMUM_FAILED_SHARE,
                     {{"Failed", static_cast<Json::Int64>(std::lround(failed))},
                      {"FailedShare", share},
                      {"Reason", evidence.latestFailure}},
                     Cost{share, std::nullopt});
    }

    // A single one is enough: what is only slow is not among them (InstanceTracker::ListStuck)
    std::optional<Judgement> JudgeStuck(const Evidence& evidence)
    {
      const std::vector<StuckInstance>& stuck = evidence.stuck;

      if (stuck.empty())
      {
        return std::nullopt;
      }

      StuckInstance longest = stuck.front();
      double waited = 0;

      for (const StuckInstance& instance : stuck)
      {
        longest = instance.silence > longest.silence ? instance : longest;
        waited += ToSeconds(instance.silence);
      }

      const double traffic = evidence.received.GetSecondsWithPauses();
      return Judgement({{"Instances", static_cast<Json::UInt64>(stuck.size())},
                        {"Phase", ToLabel(longest.phase)},
                        {"LongestTime", ToSeconds(longest.silence)}},
                       Cost{waited / (waited + traffic), std::nullopt}, ToLabel(longest.phase));
    }

    // In seconds: some thirty CT images
    constexpr double MINIMUM_DEFLATED = 1;

    constexpr double MINIMUM_DEFLATE_SHARE = 0.2;

    // By level 1. The table of reference.md has 0.76 of ultrasound and 0.84 of CT.
    constexpr double SAVED = 0.75;

    // Deflating is seen as it goes on, a request once it is over, and a job of an archive never
    constexpr double MINIMUM_REQUESTS = 0.5;  // of the time of deflating

    // At a level of the tuning, nothing is measured
    std::optional<Judgement> JudgeDeflate(const Evidence& evidence)
    {
      const AnswerTuning& tuned = evidence.tuning.answers;
      Json::Value levels;
      double deflate = 0;
      double all = 0;

      for (const auto& [key, isTuned, seen] :
           {std::make_tuple("ArchiveLevel", tuned.archiveLevel.has_value(), evidence.deflated[0]),
            std::make_tuple("HttpLevel", tuned.httpLevel.has_value(), evidence.deflated[1])})
      {
        const double time = std::max(seen.requests, seen.deflate);

        if (!isTuned && seen.deflate >= MINIMUM_DEFLATED &&
            seen.deflate >= MINIMUM_DEFLATE_SHARE * time &&
            seen.requests >= MINIMUM_REQUESTS * seen.deflate)
        {
          levels[key] = 1;
          deflate += seen.deflate;
          all += time;
        }
      }

      const double lost = SAVED * deflate;
      std::optional<Judgement> judgement =
          JudgeIf(!levels.isNull(), {{"DeflateTime", deflate}, {"DeflateShare", deflate / all}},
                  Cost{lost / all, all / (all - lost)});

      if (judgement)
      {
        judgement->document = MakeOption("Answers", levels);
      }

      return judgement;
    }

    // In seconds, of five minutes
    constexpr double MINIMUM_WAIT = 5;

    // Of the time of all requests of a class: the rest is Orthanc's own work
    constexpr double MINIMUM_WAIT_SHARE = 0.5;

    // What Orthanc waits for, and has nothing to do meanwhile
    struct Wait
    {
      const char* name;  // a variant of the texts
      double seconds;
    };

    std::array<Wait, 3> ListWaits(const ReadSummary& reads)
    {
      static_assert(REQUEST_PHASES[2] == Phase::Database && REQUEST_PHASES[3] == Phase::Storage);
      return {{{"Client", ToSeconds(reads.clientWait)},
               {"Database", reads.phases[2].sum},
               {"Storage", reads.phases[3].sum}}};
    }

    // The longest wait of a class. How much of it a remedy gives back is not known.
    std::optional<Judgement> JudgeReads(const Evidence& evidence)
    {
      std::optional<Judgement> judgement;
      double longest = MINIMUM_WAIT;
      double all = 0;

      for (std::size_t route = 0; route < evidence.served.size(); route++)
      {
        const ReadSummary& reads = evidence.served[route];
        const double time = reads.GetSeconds();
        all += time;

        for (const Wait& wait : ListWaits(reads))
        {
          if (wait.seconds >= longest && wait.seconds >= MINIMUM_WAIT_SHARE * time)
          {
            longest = wait.seconds;
            judgement = Judgement({{"Class", LABELS<RouteClass>[route]},
                                   {"WaitsFor", wait.name},
                                   {"Requests", static_cast<Json::UInt64>(reads.CountRequests())},
                                   {"WaitTime", wait.seconds},
                                   {"WaitShare", wait.seconds / time}},
                                  {}, wait.name);
          }
        }
      }

      if (judgement)
      {
        judgement->cost.shareOfIngestTime = longest / all;
      }

      return judgement;
    }

    // Orthanc's default
    constexpr std::uint64_t DEFAULT_THREADS = 4;

    // Five seconds of looking
    constexpr double MINIMUM_LOOKS = 10;

    // Associations with data that no thread was free for, on average
    constexpr double MINIMUM_WAITING = 0.5;

    // DICOM threads that are enough for these cores: two at work for each, and as many that are
    // held by silent associations
    std::uint64_t GetEnoughThreads(const Evidence& evidence)
    {
      return std::max<std::uint64_t>(2 * DEFAULT_THREADS, 4ULL * evidence.facts.cores);
    }

    std::optional<Judgement> JudgeDicomThreads(const Evidence& evidence)
    {
      const LoadEvidence& load = evidence.load;
      const TrafficBucket& traffic = evidence.received;
      const std::uint64_t threads = evidence.facts.Get("DicomThreadsCount", DEFAULT_THREADS);
      const std::uint64_t enough = GetEnoughThreads(evidence);
      std::optional<Judgement> judgement =
          JudgeIf(load.looks >= MINIMUM_LOOKS && load.waiting >= MINIMUM_WAITING &&
                      threads < enough && traffic.instances >= MINIMUM_INSTANCES,
                  {{"DicomThreadsCount", static_cast<Json::UInt64>(threads)},
                   {"OpenAssociations", load.associations},
                   {"WaitingAssociations", load.waiting},
                   {"MeanPause", traffic.pauseSeconds / traffic.instances}},
                  EstimateShare(traffic.pauseSeconds, traffic), "",
                  {{"Enough", static_cast<Json::UInt64>(enough)}});

      if (judgement)
      {
        const auto wanted = static_cast<std::uint64_t>(std::ceil(load.associations));
        judgement->document =
            MakeOption("DicomThreadsCount",
                       static_cast<Json::UInt64>(std::clamp(wanted, threads + 1, enough)));
      }

      return judgement;
    }

    // Which adds the index to any database that has none of this name (SQLiteDatabaseWrapper::Open)
    constexpr OrthancRelease LOOKUP_INDEX = {1, 12, 10};

    // In seconds. With the index, 1 ms; without it, 0.1 to 0.7 µs more for each stored instance.
    constexpr double SLOW_LOOKUP = 0.005;

    std::optional<Judgement> JudgeLookups(const Evidence& evidence)
    {
      const ServerFacts& facts = evidence.facts;
      const double time = facts.lookupTime.value_or(0);
      return JudgeIf(
          !facts.hasDatabasePlugin && facts.IsOlderThan(LOOKUP_INDEX) && facts.storedInstances &&
              !facts.indexFile.empty() && time >= SLOW_LOOKUP,
          {{"Release", facts.orthancVersion},
           {"Database", "SQLite"},
           {"StoredInstances", static_cast<Json::UInt64>(facts.storedInstances.value_or(0))},
           {"LookupTime", time}},
          {}, "", {{"IndexFile", facts.indexFile}});
    }

    // ---- A checklist of options --------------------------------------------------------------

    // From how many instances on a store is large. The Orthanc Book ("Scalability of Orthanc",
    // "Troubleshooting") speaks of hundreds of thousands, and of 25,000 to 50,000 for SQLite.
    constexpr std::uint64_t LARGE_STORE = 100'000;
    constexpr std::uint64_t TOO_LARGE_FOR_SQLITE = 50'000;

    // From then on, "Answers" is the same as "Always": the tag that the index lacks becomes one of
    // the answer, is read from a file of each candidate, and only then compared
    // (ResourceFinder::Execute)
    constexpr OrthancRelease ANSWERS_ARE_COMPARED = {1, 12, 5};

    // Whether an option should be another, which the finding's remedy names
    struct Item
    {
      const char* id;
      std::uint64_t storedInstances;  // it matters from then on
      bool (*isMissed)(const ServerFacts& facts);
    };

    bool IsSqlite(const ServerFacts& facts)
    {
      return !facts.hasDatabasePlugin;
    }

    bool ReadsFilesForQueries(const ServerFacts& facts)
    {
      const std::string mode = facts.Get<std::string>("StorageAccessOnFind", "Always");
      return mode == "Always" || (mode == "Answers" && !facts.IsOlderThan(ANSWERS_ARE_COMPARED));
    }

    bool CompressesFiles(const ServerFacts& facts)
    {
      return facts.Get("StorageCompression", false);
    }

    bool StoresInDatabase(const ServerFacts& facts)
    {
      const Json::Value& section = facts.configuration["PostgreSQL"];
      return section.isObject() && section["EnableStorage"] == Json::Value(true);
    }

    constexpr Item CHECKLIST[] = {{"sqlite-large", TOO_LARGE_FOR_SQLITE, &IsSqlite},
                                  {"storage-access-on-find", LARGE_STORE, &ReadsFilesForQueries},
                                  {"storage-compression", 0, &CompressesFiles},
                                  {"postgresql-storage", 0, &StoresInDatabase}};

    std::vector<Finding> GoThroughChecklist(const Evidence& evidence)
    {
      const std::optional<std::uint64_t> stored = evidence.facts.storedInstances;
      const Judgement judgement =
          stored ? Judgement({{"StoredInstances", Json::UInt64(*stored)}}) : Judgement({});
      std::vector<Finding> findings;

      for (const Item& item : CHECKLIST)
      {
        if (stored.value_or(0) >= item.storedInstances && item.isMissed(evidence.facts))
        {
          findings.push_back(Describe(item.id, judgement));
        }
      }

      return findings;
    }
  }

  std::vector<Rule> MakeServerRules()
  {
    return {
        {"failed-instances", &JudgeFailures},
        {"stuck-instances", &JudgeStuck},
        {"dicom-threads", &JudgeDicomThreads},
        {"sqlite-lookup-index", &JudgeLookups},
        {"answer-compression", &JudgeDeflate},
        {"slow-reads", &JudgeReads},
        Rule(&GoThroughChecklist),
    };
  }
}
