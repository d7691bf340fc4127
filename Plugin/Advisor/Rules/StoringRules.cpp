// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // All below that are no means are seconds of all instances together

    // ---- fsync, slow-storage, slow-commit ----------------------------------------------------

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


    // ---- md5 ---------------------------------------------------------------------------------

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
      const double hashing =
          std::min(MD5_PART * traffic.GetSeconds(Phase::Prepare), traffic.bytes / SLOW_MD5);
      const double total = traffic.GetTotalSeconds();
      std::optional<Judgement> judgement =
          JudgeIf(facts.IsOn("StoreMD5ForAttachments", true) && total > 0 &&
                      traffic.instances >= MINIMUM_INSTANCES &&
                      traffic.bytes >= LARGE_INSTANCE * traffic.instances &&
                      hashing >= MINIMUM_HASHING_SHARE * total,
                  {{"MeanSize", traffic.bytes / traffic.instances},
                   {"EstimatedHashing", hashing / traffic.instances},
                   {"MeanPrepare", traffic.GetMean(Phase::Prepare)},
                   {"HashingShare", hashing / total}},
                  EstimateCost(hashing, total, traffic));

      // With which Orthanc does not start without the sums
      if (judgement && facts.GetText("OverwriteInstances", "Never") == "IfChanged")
      {
        judgement->document = MakeOption("StoreMD5ForAttachments", false);
        judgement->document["OverwriteInstances"] = "Never";
      }

      return judgement;
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
      const std::vector<Finding> ofDatabase =
          JudgeOnly(MakeDatabaseRules(), evidence, evidence.received);
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
