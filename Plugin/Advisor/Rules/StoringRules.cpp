// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rule.h"

#include <algorithm>
#include <cmath>

namespace OrthancPerf
{
  namespace
  {
    // All below that are no means are seconds of all instances together

    // An SSD takes some 1 ms to make a file durable, up to 6 ms when others write to it; a disk 10
    // ms (a seek and a turn)
    constexpr double SLOW_SYNC = 0.008;

    constexpr double MINIMUM_SYNC_SHARE = 0.5;

    std::optional<Judgement> JudgeFsync(const Evidence& evidence)
    {
      const TrafficBucket& traffic = evidence.received;
      const double share = traffic.GetShare(Phase::Sync);
      const double total = traffic.GetTotalSeconds();
      return JudgeIf(traffic.instances >= MINIMUM_INSTANCES && share >= MINIMUM_SYNC_SHARE &&
                         traffic.GetServiceTime(Phase::Sync) >= SLOW_SYNC,
                     {{"MeanSync", traffic.GetMean(Phase::Sync)},
                      {"SyncShare", share},
                      {"MeanDuration", total / traffic.instances}},
                     EstimateCost(traffic.GetSeconds(Phase::Sync), total, traffic));
    }

    // Below the sequential rate of any local disk of today; memory takes gigabytes a second
    constexpr double SLOW_RATE = 100e6;

    constexpr double SLOW_STORAGE = 0.005;
    constexpr double MINIMUM_STORAGE_SHARE = 0.4;

    // Of the time of writing, from which on it is a server's, such as an object storage
    constexpr double MINIMUM_REMOTE_SHARE = 0.5;

    std::optional<Judgement> JudgeStorage(const Evidence& evidence)
    {
      const TrafficBucket& traffic = evidence.received;
      const double writing = traffic.GetSeconds(Phase::Storage) - traffic.GetSeconds(Phase::Sync);
      const double total = traffic.GetTotalSeconds();
      const double mean = writing / traffic.instances;
      const double service = std::min(mean, traffic.GetServiceTime(Phase::Storage));
      const double rate = traffic.bytes / (service * traffic.instances);
      std::optional<Judgement> judgement = JudgeIf(
          traffic.instances >= MINIMUM_INSTANCES && writing >= MINIMUM_STORAGE_SHARE * total &&
              service >= SLOW_STORAGE && rate <= SLOW_RATE,
          {{"MeanWrite", mean}, {"WriteShare", writing / total}, {"Rate", rate}},
          EstimateShare(writing, traffic));

      if (judgement && traffic.GetSeconds(Phase::Remote) >= MINIMUM_REMOTE_SHARE * writing)
      {
        judgement->variant = "server";
        judgement->figures["MeanRemote"] = traffic.GetMean(Phase::Remote);
        judgement->words["RemoteShare"] = traffic.GetSeconds(Phase::Remote) / writing;
      }

      return judgement;
    }

    // Storage and index together take some 4 ms on a local SSD; an object storage answers in 20 to
    // 100 ms
    constexpr double SLOW_COMMIT = 0.015;

    constexpr double MINIMUM_COMMIT_SHARE = 0.6;

    // orthanc-databases has one connection for all files, and its lock for as long as one is
    // written (StorageBackend.h)
    std::optional<Judgement> JudgeCommit(const Evidence& evidence)
    {
      const TrafficBucket& traffic = evidence.received;
      const double share = traffic.GetShare(Phase::Commit);
      const double service = traffic.GetServiceTime(Phase::Commit);
      return JudgeIf(traffic.instances >= MINIMUM_INSTANCES && share >= MINIMUM_COMMIT_SHARE &&
                         service >= SLOW_COMMIT,
                     {{"MeanCommit", traffic.GetMean(Phase::Commit)},
                      {"ServiceTime", service},
                      {"CommitShare", share}},
                     EstimateShare(traffic.GetSeconds(Phase::Commit), traffic),
                     evidence.facts.IsStorageInDatabase() ? "database" : "");
    }

    std::string SayServer(const Evidence& evidence)
    {
      const std::string& server = evidence.database.server;
      return "the database server" + (server.empty() ? "" : " (" + server + ")");
    }

    // Of the time of an instance
    constexpr double MINIMUM_LATENCY_SHARE = 1.0 / 3;

    // A round trip to another machine of the same room takes 0.1 to 0.3 ms, and one to PostgreSQL
    // on the same machine less than 0.1 ms. To move such a server nearer gains nothing.
    constexpr double MINIMUM_LATENCY = 0.0005;

    // What the way takes is the shortest round trip of an instance: the server works in the others,
    // too, and in that one hardly
    std::optional<Judgement> JudgeLatency(const Evidence& evidence)
    {
      const TrafficBucket& traffic = evidence.received;
      const double total = traffic.GetTotalSeconds();
      return JudgeIf(traffic.instances >= MINIMUM_INSTANCES && traffic.databaseRoundTrips > 0 &&
                         traffic.latencySeconds >= MINIMUM_LATENCY_SHARE * total &&
                         traffic.latencySeconds >= MINIMUM_LATENCY * traffic.databaseRoundTrips,
                     {{"Server", evidence.database.server},
                      {"RoundTrips", traffic.databaseRoundTrips / traffic.instances},
                      {"Latency", traffic.latencySeconds / traffic.databaseRoundTrips},
                      {"LatencyShare", traffic.latencySeconds / total},
                      {"MeanDatabase", traffic.GetMean(Phase::Database)}},
                     EstimateCost(traffic.latencySeconds, total, traffic),
                     evidence.facts.IsStorageInDatabase()             ? "files"
                     : evidence.facts.databaseSection == "PostgreSQL" ? "PostgreSQL"
                                                                      : "",
                     {{"Database", SayServer(evidence)}});
    }

    constexpr double MINIMUM_QUEUED_SHARE = 0.25;
    constexpr double MINIMUM_QUEUED = 0.001;  // an instance

    // Of the connections, those that are in use on average: below, something else is waited for
    constexpr double HARDLY_USED = 0.25;

    // As many as the PostgreSQL plugin has by default since its release 7.0
    constexpr double MANY_CONNECTIONS = 50;

    // Those that were seen, or as many as the configuration allows
    double CountConnections(const Evidence& evidence)
    {
      const ServerFacts& facts = evidence.facts;
      const Json::Value& allowed =
          facts.configuration[facts.databaseSection]["IndexConnectionsCount"];
      const auto seen = static_cast<double>(evidence.database.connections);
      return std::max(seen, allowed.isUInt64() ? allowed.asDouble() : 0);
    }

    // A thread has one connection at the most. If more threads are in the index than there are
    // connections, one that does not compute before its first question waits for a connection.
    // They need not be in use all the time: since release 9.0 of the PostgreSQL plugin, a thread
    // that finds none sleeps for 100 ms. Where the processor is short, that is its own finding.
    std::optional<Judgement> JudgeConnections(const Evidence& evidence)
    {
      const TrafficBucket& traffic = evidence.received;
      const std::string& section = evidence.facts.databaseSection;
      const double connections = CountConnections(evidence);
      const double total = traffic.GetTotalSeconds();
      const double index = traffic.GetSeconds(Phase::Index);
      const double queued = traffic.queuedSeconds;

      // Little's law: the mean number is the time of all over the time on the wall
      const double threads = index / traffic.activeSeconds;
      const double inUse = (index - queued) / traffic.activeSeconds;
      std::optional<Judgement> judgement =
          JudgeIf(traffic.instances >= MINIMUM_INSTANCES && connections >= 1 &&
                      traffic.activeSeconds > 0 && queued >= MINIMUM_QUEUED_SHARE * total &&
                      queued >= MINIMUM_QUEUED * traffic.instances && threads > connections &&
                      inUse >= HARDLY_USED * connections,
                  {{"Server", evidence.database.server},
                   {"Connections", connections},
                   {"ConnectionsInUse", inUse},
                   {"InstancesInIndex", threads},
                   {"MeanQueued", queued / traffic.instances},
                   {"QueuedShare", queued / total}},
                  EstimateShare(queued, traffic), section.empty() ? "unknown" : section.c_str(),
                  {{"Database", SayServer(evidence)}});

      if (judgement && !section.empty())
      {
        const double wanted = std::clamp(std::ceil(threads), connections + 1,
                                         std::max(MANY_CONNECTIONS, connections + 1));
        judgement->document =
            MakeOption(section.c_str(), "IndexConnectionsCount", static_cast<Json::UInt64>(wanted));
      }

      return judgement;
    }

    // SQLite on an SSD takes some 2 ms for an instance (190 page writes), PostgreSQL on the same
    // machine 3 to 5 ms
    constexpr double SLOW_INDEX = 0.008;

    constexpr double MINIMUM_INDEX_SHARE = 0.5;

    // Of what is in the index: below, the server is not what takes the time
    constexpr double MINIMUM_SERVER_SHARE = 0.5;

    // Whether it is seen that the server was asked, and that waiting for it is the least of it
    bool IsBeyondServer(const TrafficBucket& traffic)
    {
      return traffic.databaseRoundTrips > 0 &&
             traffic.GetSeconds(Phase::Database) <
                 MINIMUM_SERVER_SHARE * traffic.GetSeconds(Phase::Index);
    }

    std::optional<Judgement> JudgeIndex(const Evidence& evidence)
    {
      const TrafficBucket& traffic = evidence.received;
      const double share = traffic.GetShare(Phase::Index);
      const double service = traffic.GetServiceTime(Phase::Index);
      const bool isServer = evidence.facts.hasDatabasePlugin;
      return JudgeIf(traffic.instances >= MINIMUM_INSTANCES && share >= MINIMUM_INDEX_SHARE &&
                         service >= SLOW_INDEX,
                     {{"Database", isServer ? "plugin" : "SQLite"},
                      {"MeanIndex", traffic.GetMean(Phase::Index)},
                      {"ServiceTime", service},
                      {"IndexShare", share}},
                     EstimateShare(traffic.GetSeconds(Phase::Index), traffic),
                     !isServer                 ? ""
                     : IsBeyondServer(traffic) ? "beyond"
                                               : "server",
                     {{"Server", SayServer(evidence)},
                      {"MeanDatabase", traffic.GetMean(Phase::Database)},
                      {"MeanQueued", traffic.queuedSeconds / traffic.instances}});
    }

    // Bytes a second. Orthanc's MD5 is portable C, no assembler: 250 MB/s on a busy core, 500 to
    // 800 on a free one.
    constexpr double SLOW_MD5 = 250e6;

    // The least part of "prepare" that is MD5 with large instances; the rest copies their bytes,
    // with 1500 MB/s on a slow processor (500 for MD5), 8000 on a fast one (800 for MD5)
    constexpr double MD5_PART = 0.75;

    // MD5 takes a quarter of the time of images of half a megabyte on an SSD, and is worth that.
    // Only larger instances are judged.
    constexpr double LARGE_INSTANCE = 2e6;  // bytes: 4 to 8 ms

    constexpr double MINIMUM_HASHING_SHARE = 0.25;

    // Lua, other plugins' filters and compression are in the same phase: no more of it is MD5 than
    // a slow processor needs
    std::optional<Judgement> JudgeMd5(const Evidence& evidence)
    {
      const TrafficBucket& traffic = evidence.received;
      const ServerFacts& facts = evidence.facts;

      // From Orthanc 1.13.0 on, "IfChanged" needs the sums: Orthanc does not start without them
      const bool areSpare = facts.Get("StoreMD5ForAttachments", true) &&
                            facts.Get<std::string>("OverwriteInstances", "Never") != "IfChanged";
      const double hashing =
          std::min(MD5_PART * traffic.GetSeconds(Phase::Prepare), traffic.bytes / SLOW_MD5);
      const double total = traffic.GetTotalSeconds();
      return JudgeIf(areSpare && total > 0 && traffic.instances >= MINIMUM_INSTANCES &&
                         traffic.bytes >= LARGE_INSTANCE * traffic.instances &&
                         hashing >= MINIMUM_HASHING_SHARE * total,
                     {{"MeanSize", traffic.bytes / traffic.instances},
                      {"EstimatedHashing", hashing / traffic.instances},
                      {"MeanPrepare", traffic.GetMean(Phase::Prepare)},
                      {"HashingShare", hashing / total}},
                     EstimateCost(hashing, total, traffic));
    }

    // ---- processor ---------------------------------------------------------------------------
    //
    // fsync, slow-storage, index and slow-commit judge by elapsed time. While other work keeps the
    // processor busy, that says nothing about disks and databases. So they see only what was
    // received while there was processor time to be had; what they would say of the rest has one
    // cause, and is one finding. The other findings of the database say why it is slow, by round
    // trips and connections: they see all, and take the place of "index".

    // What the rules say if that is all that was received. Costs are shares of really all.
    std::vector<Finding> JudgeOnly(const std::vector<Rule>& rules, const Evidence& evidence,
                                   const TrafficBucket& received)
    {
      Evidence narrowed;
      narrowed.received = received;
      narrowed.database = evidence.database;
      narrowed.facts = evidence.facts;
      std::vector<Finding> findings;

      for (const Rule& rule : rules)
      {
        for (Finding& finding : rule.Judge(narrowed))
        {
          finding.cost.shareOfIngestTime *= std::min(
              received.GetSecondsWithPauses() / evidence.received.GetSecondsWithPauses(), 1.0);
          findings.push_back(std::move(finding));
        }
      }

      return findings;
    }

    std::vector<Finding> JudgeByElapsedTime(const Evidence& evidence)
    {
      const std::vector<Finding> ofDatabase = JudgeOnly(
          {{"database-latency", &JudgeLatency}, {"database-connections", &JudgeConnections}},
          evidence, evidence.received);
      std::vector<Rule> rules = {
          {"fsync", &JudgeFsync}, {"slow-storage", &JudgeStorage}, {"slow-commit", &JudgeCommit}};

      if (ofDatabase.empty())
      {
        rules.emplace_back("index", &JudgeIndex);
      }

      std::vector<Finding> findings = JudgeOnly(rules, evidence, evidence.calm);
      findings.insert(findings.end(), ofDatabase.begin(), ofDatabase.end());

      const TrafficBucket& starved = evidence.starved;
      Judgement processor({{"RunnableTasks", evidence.runnableTasks},
                           {"MeanDuration", starved.GetTotalSeconds() / starved.instances},
                           {"Instances", starved.instances},
                           {"Cores", evidence.facts.cores}});
      std::string names;

      for (const Finding& other : JudgeOnly(rules, evidence, starved))
      {
        names += (names.empty() ? "" : ", ") + other.id;
        processor.cost.shareOfIngestTime += other.cost.shareOfIngestTime;
      }

      if (!names.empty())
      {
        processor.figures["SeemsLike"] = names;
        processor.cost.shareOfIngestTime = std::min(processor.cost.shareOfIngestTime, 1.0);
        findings.push_back(Describe("processor", processor));
      }

      return findings;
    }
  }

  std::vector<Rule> MakeStoringRules()
  {
    return {Rule(&JudgeByElapsedTime), {"md5", &JudgeMd5}};
  }
}
