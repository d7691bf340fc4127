// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <algorithm>
#include <cmath>

namespace OrthancPerf
{
  namespace
  {
    // ---- failed-instances, stuck-instances ---------------------------------------------------

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


    const char* NameObstacle(Phase phase)
    {
      return phase == Phase::Storage  ? "the storage"
             : phase == Phase::Index  ? "the database"
             : phase == Phase::Commit ? "the storage or the database"
                                      : "what comes before the storage";
    }


    bool IsSilentForLess(const StuckInstance& a, const StuckInstance& b)
    {
      return a.silence < b.silence;
    }


    // A single one is enough: what is only slow is not among them (InstanceTracker::ListStuck)
    std::optional<Judgement> JudgeStuck(const Evidence& evidence)
    {
      const std::vector<StuckInstance>& stuck = evidence.stuck;

      if (stuck.empty())
      {
        return std::nullopt;
      }

      const StuckInstance longest = *std::max_element(stuck.begin(), stuck.end(), IsSilentForLess);
      const double traffic = evidence.received.GetSecondsWithPauses();
      double waited = 0;

      for (const StuckInstance& instance : stuck)
      {
        waited += ToSeconds(instance.silence);
      }

      Judgement judgement({{"Instances", static_cast<Json::UInt64>(stuck.size())},
                           {"Phase", ToLabel(longest.phase)},
                           {"LongestTime", ToSeconds(longest.silence)}},
                          Cost{waited / (waited + traffic), std::nullopt}, ToLabel(longest.phase));
      judgement.words["Obstacle"] = NameObstacle(longest.phase);
      return judgement;
    }


    // ---- archive-compression, http-compression -----------------------------------------------

    // In seconds: some thirty CT images
    constexpr double MINIMUM_DEFLATED = 1;

    constexpr double MINIMUM_DEFLATE_SHARE = 0.2;

    // By level 1. The table of reference.md has 0.76 of ultrasound and 0.84 of CT.
    constexpr double SAVED = 0.75;


    // Deflating is seen as it goes on, a request once it is over, and a job of an archive never
    constexpr double MINIMUM_REQUESTS = 0.5;  // of the time of deflating


    // At a level of the tuning, nothing is measured
    std::optional<Judgement> JudgeDeflate(const DeflateEvidence& evidence, const char* key,
                                          std::optional<int> tuned)
    {
      const double all = std::max(evidence.requests, evidence.deflate);
      const double lost = SAVED * evidence.deflate;
      std::optional<Judgement> judgement =
          JudgeIf(!tuned && evidence.deflate >= MINIMUM_DEFLATED &&
                      evidence.deflate >= MINIMUM_DEFLATE_SHARE * all &&
                      evidence.requests >= MINIMUM_REQUESTS * evidence.deflate,
                  {{"DeflateTime", evidence.deflate}, {"DeflateShare", evidence.deflate / all}},
                  Cost{lost / all, all / (all - lost)});

      if (judgement)
      {
        judgement->document = MakeOption("Answers", key, 1);
      }

      return judgement;
    }


    std::optional<Judgement> JudgeArchives(const Evidence& evidence)
    {
      return JudgeDeflate(evidence.deflated[0], "ArchiveLevel",
                          evidence.tuning.answers.archiveLevel);
    }


    std::optional<Judgement> JudgeGzip(const Evidence& evidence)
    {
      return JudgeDeflate(evidence.deflated[1], "HttpLevel", evidence.tuning.answers.httpLevel);
    }


    // ---- dicom-threads -----------------------------------------------------------------------

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
      const std::uint64_t threads = evidence.facts.GetNumber("DicomThreadsCount", DEFAULT_THREADS);
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


    // ---- sqlite-lookup-index -----------------------------------------------------------------

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
              time >= SLOW_LOOKUP,
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

    struct Item
    {
      const char* id;
      std::uint64_t storedInstances;  // it matters from then on

      // The options that should be others; null: none
      Json::Value (*propose)(const ServerFacts& facts);
    };


    Json::Value ProposeIf(bool isMissed, const Json::Value& options)
    {
      return isMissed ? options : Json::Value();
    }


    Json::Value LeaveSqlite(const ServerFacts& facts)
    {
      return ProposeIf(!facts.hasDatabasePlugin, MakeOption("PostgreSQL", "EnableIndex", true));
    }


    // What has a limit keeps it
    Json::Value LimitFinds(const ServerFacts& facts)
    {
      Json::Value options;

      for (const char* const option : {"LimitFindResults", "LimitFindInstances"})
      {
        if (facts.GetNumber(option, 0) == 0)
        {
          options[option] = 100;
        }
      }

      return options;
    }


    Json::Value FindInIndex(const ServerFacts& facts)
    {
      const std::string mode = facts.GetText("StorageAccessOnFind", "Always");
      return ProposeIf(mode == "Always" ||
                           (mode == "Answers" && !facts.IsOlderThan(ANSWERS_ARE_COMPARED)),
                       MakeOption("StorageAccessOnFind", "Never"));
    }


    Json::Value ForgetJobs(const ServerFacts& facts)
    {
      return ProposeIf(facts.IsOn("SaveJobs", true), MakeOption("SaveJobs", false));
    }


    Json::Value StoreInFolder(const ServerFacts& facts)
    {
      const Json::Value& section = facts.configuration["PostgreSQL"];
      return ProposeIf(section.isObject() && section["EnableStorage"] == Json::Value(true),
                       MakeOption("PostgreSQL", "EnableStorage", false));
    }


    constexpr Item CHECKLIST[] = {{"sqlite-large", TOO_LARGE_FOR_SQLITE, &LeaveSqlite},
                                  {"find-limits", LARGE_STORE, &LimitFinds},
                                  {"storage-access-on-find", LARGE_STORE, &FindInIndex},
                                  {"save-jobs", LARGE_STORE, &ForgetJobs},
                                  {"postgresql-storage", 0, &StoreInFolder}};


    std::vector<Finding> GoThroughChecklist(const Evidence& evidence)
    {
      const std::optional<std::uint64_t> stored = evidence.facts.storedInstances;
      std::vector<Finding> findings;

      for (const Item& item : CHECKLIST)
      {
        Judgement judgement({});
        judgement.document = item.propose(evidence.facts);

        if (stored)
        {
          judgement.figures["StoredInstances"] = static_cast<Json::UInt64>(*stored);
        }

        if (!judgement.document.isNull() && stored.value_or(0) >= item.storedInstances)
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
        {"archive-compression", &JudgeArchives},
        {"http-compression", &JudgeGzip},
        Rule(&GoThroughChecklist),
    };
  }
}
