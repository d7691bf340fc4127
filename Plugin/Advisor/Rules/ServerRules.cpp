// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    // The levels of /tools/log-level that write lines for each instance
    bool IsVerbose(const std::string& level)
    {
      return level == "verbose" || level == "trace";
    }
  }


  std::optional<Finding> JudgeLogLevel(const Evidence& evidence)
  {
    Json::Value levels;

    for (const auto& [category, level] : evidence.facts.logLevels)
    {
      if (IsVerbose(level))
      {
        levels[category.empty() ? "All" : category] = level;
      }
    }

    if (levels.isNull())
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "verbose-logs";
    finding.title = "Orthanc logs every step of every instance";
    finding.explanation = "The log level is \"verbose\" or \"trace\": some dozen lines an "
                          "instance, each written under a lock that all threads share.";
    finding.evidence = levels;
    finding.remedy =
        Remedy::ChangeSystem("curl -X PUT http://localhost:8042/tools/log-level -d default "
                             "(likewise /tools/log-level-dicom and so on, for single categories), "
                             "and start Orthanc without --verbose or --trace.");
    return finding;
  }


  std::optional<Finding> JudgeAssertions(const Evidence& evidence)
  {
    if (!evidence.facts.hasAssertions)
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "debug-build";
    finding.title = "This Orthanc was built for debugging";
    finding.explanation = "The program holds a warning that is left out of release builds: it "
                          "checks its own assertions all the time (built without NDEBUG; its log "
                          "says so at the start), was not optimized, or both.";
    finding.evidence["Build"] = "for debugging";
    finding.remedy =
        Remedy::ChangeSystem("Use a release build (cmake -DCMAKE_BUILD_TYPE=Release), or the "
                             "packages of a distribution or of the Orthanc project.");
    return finding;
  }


  namespace
  {
    // From how many instances on a store is large. The Orthanc Book ("Scalability of Orthanc",
    // "Troubleshooting") speaks of hundreds of thousands.
    constexpr std::uint64_t LARGE_STORE = 100'000;
    constexpr std::uint64_t TOO_LARGE_FOR_SQLITE = 300'000;

    // One line of that page's checklist
    struct Item
    {
      const char* id;
      std::uint64_t storedInstances;  // it matters from then on
      bool (*isMissed)(const ServerFacts& facts);
      const char* title;
      const char* explanation;
      Json::Value (*makeOptions)(const ServerFacts& facts);  // of Orthanc's configuration
      const char* text;
    };


    bool IsSqlite(const ServerFacts& facts)
    {
      return !facts.hasDatabasePlugin;
    }


    // What has a limit keeps it
    Json::Value MakeFindLimits(const ServerFacts& facts)
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


    bool HasNoFindLimits(const ServerFacts& facts)
    {
      return !MakeFindLimits(facts).empty();
    }


    // From then on, "Answers" is the same as "Always": the tag that the index lacks becomes one of
    // the answer, is read from a file of each candidate, and only then compared
    // (ResourceFinder::Execute)
    constexpr OrthancRelease ANSWERS_ARE_COMPARED = {1, 12, 5};


    bool FindsInStorage(const ServerFacts& facts)
    {
      const std::string mode = facts.GetText("StorageAccessOnFind", "Always");
      return mode == "Always" || (mode == "Answers" && !facts.IsOlderThan(ANSWERS_ARE_COMPARED));
    }


    bool SavesJobs(const ServerFacts& facts)
    {
      return facts.IsOn("SaveJobs", true);
    }


    bool DelaysHttp(const ServerFacts& facts)
    {
      return !facts.IsOn("TcpNoDelay", true);
    }


    bool StoresFilesInPostgreSql(const ServerFacts& facts)
    {
      const Json::Value& section = facts.configuration["PostgreSQL"];
      return section.isObject() && section["EnableStorage"] == Json::Value(true);
    }


    const Item ITEMS[] = {
        {"sqlite-large", TOO_LARGE_FOR_SQLITE, &IsSqlite, "The index has outgrown SQLite",
         "SQLite writes under one lock, and its queries get slower with the store.",
         [](const ServerFacts&) { return MakeOption("PostgreSQL", "EnableIndex", true); },
         "Move to the PostgreSQL plugin (a new database, and the images sent to it anew)."},
        {"find-limits", LARGE_STORE, &HasNoFindLimits, "A C-FIND may answer with the whole store",
         "A query without a filter makes Orthanc read all of a large index, while ingest waits for "
         "the database.",
         &MakeFindLimits, "Limit the answers; a client that needs more asks more narrowly."},
        {"storage-access-on-find", LARGE_STORE, &FindsInStorage, "Queries may read files",
         "A query for a tag that is not in the index opens a file of each study, series or "
         "instance "
         "that it looks at, on the disk that ingest writes to.",
         [](const ServerFacts&) { return MakeOption("StorageAccessOnFind", "Never"); },
         "Answer queries from the index alone; a query for a tag that is not in it then finds "
         "nothing. \"ExtraMainDicomTags\" (from Orthanc 1.11.0 on) puts tags into it."},
        {"save-jobs", LARGE_STORE, &SavesJobs, "Jobs are written to the database again and again",
         "All jobs, also those that are over, are saved every 10 seconds (from Orthanc 1.12.11 on "
         "only if one has changed).",
         [](const ServerFacts&) { return MakeOption("SaveJobs", false); },
         "Don't save jobs, unless they have to survive a restart."},
        {"http-tcp-no-delay", 0, &DelaysHttp, "The HTTP server delays small answers",
         "Nagle's algorithm is on for HTTP: the end of an answer may wait for 40 ms or 200 ms.",
         [](const ServerFacts&) { return MakeOption("TcpNoDelay", true); },
         "Let the HTTP server send at once."},
        {"postgresql-storage", 0, &StoresFilesInPostgreSql, "The images are stored in the database",
         "Large objects in PostgreSQL are slower than files, and make the database hard to back "
         "up.",
         [](const ServerFacts&) { return MakeOption("PostgreSQL", "EnableStorage", false); },
         "Store files in a folder, and the index alone in PostgreSQL (for a new store)."}};


    bool Applies(const Item& item, const ServerFacts& facts)
    {
      return facts.storedInstances.value_or(0) >= item.storedInstances && item.isMissed(facts);
    }


    Finding Describe(const Item& item, const ServerFacts& facts)
    {
      Finding finding;
      finding.id = item.id;
      finding.title = item.title;
      finding.explanation =
          std::string(item.explanation) + " (The Orthanc Book, \"Scalability of Orthanc\".)";
      finding.remedy = Remedy::Configure(item.makeOptions(facts), item.text);

      if (facts.storedInstances)
      {
        finding.evidence["StoredInstances"] = static_cast<Json::UInt64>(*facts.storedInstances);
      }

      return finding;
    }
  }


  std::vector<Finding> JudgeChecklist(const Evidence& evidence)
  {
    std::vector<Finding> findings;

    for (const Item& item : ITEMS)
    {
      if (Applies(item, evidence.facts))
      {
        findings.push_back(Describe(item, evidence.facts));
      }
    }

    return findings;
  }
}
