// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // From how many instances on a store is large. The Orthanc Book ("Scalability of Orthanc",
    // "Troubleshooting") speaks of hundreds of thousands.
    constexpr std::uint64_t LARGE_STORE = 100'000;
    constexpr std::uint64_t TOO_LARGE_FOR_SQLITE = 300'000;

    // One line of a checklist: that page's, and what else is seen from options alone
    struct Item
    {
      const char* id;
      std::uint64_t storedInstances;  // it matters from then on
      bool (*isMissed)(const ServerFacts& facts);
      const char* title;
      const char* explanation;

      // Of Orthanc's configuration; null: what to do is no option
      Json::Value (*makeOptions)(const ServerFacts& facts);

      const char* text;
    };

    // Orthanc's default, and DCMTK's (ASC_DEFAULTMAXPDU); larger ones made no difference
    constexpr std::uint64_t DEFAULT_PDU = 16384;

    // The largest that Orthanc takes
    constexpr Json::UInt64 LARGEST_PDU = 131072;


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


    bool HasSmallPdus(const ServerFacts& facts)
    {
      return facts.GetNumber("MaximumPduLength", DEFAULT_PDU) < DEFAULT_PDU;
    }


    bool ClosesConnections(const ServerFacts& facts)
    {
      return !facts.IsOn("KeepAlive", true);
    }


    bool IsVerbose(const ServerFacts& facts)
    {
      return std::any_of(facts.logLevels.begin(), facts.logLevels.end(),
                         [](const auto& level)
                         { return level.second == "verbose" || level.second == "trace"; });
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
         "Store files in a folder, and the index alone in PostgreSQL (for a new store)."},
        {"small-pdus", 0, &HasSmallPdus, "Senders have to cut images into small PDUs",
         "Each PDU costs both sides system calls (\"MaximumPduLength\").",
         [](const ServerFacts&) { return MakeOption("MaximumPduLength", LARGEST_PDU); },
         "Allow larger PDUs; Orthanc has to be restarted."},
        {"keep-alive", 0, &ClosesConnections, "Each upload needs a connection of its own",
         "Orthanc closes an HTTP connection after each answer. A new one costs a round trip, over "
         "HTTPS three.",
         [](const ServerFacts&) { return MakeOption("KeepAlive", true); },
         "Keep connections open."},
        {"verbose-logs", 0, &IsVerbose, "Orthanc logs every step of every instance",
         "Some dozen lines an instance, each written under a lock that all threads share.", nullptr,
         "curl -X PUT http://localhost:8042/tools/log-level -d default (likewise "
         "/tools/log-level-dicom and so on), and start Orthanc without --verbose or --trace."}};


    bool Applies(const Item& item, const ServerFacts& facts)
    {
      return facts.storedInstances.value_or(0) >= item.storedInstances && item.isMissed(facts);
    }


    Finding Describe(const Item& item, const ServerFacts& facts)
    {
      Finding finding;
      finding.id = item.id;
      finding.title = item.title;
      finding.explanation = item.explanation;
      finding.remedy = item.makeOptions == nullptr
                           ? Remedy::ChangeSystem(item.text)
                           : Remedy::Configure(item.makeOptions(facts), item.text);

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
