// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // An SSD takes some 1 ms to make a file durable, up to 6 ms when others write to it; a disk 10
    // ms (a seek and a turn)
    constexpr double SLOW_SYNC = 0.008;

    // Of the time of an instance
    constexpr double MINIMUM_SYNC_SHARE = 0.5;
  }


  std::optional<Finding> JudgeFsync(const Evidence& evidence)
  {
    const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
    const double share = traffic.GetShare(Phase::Sync);

    if (traffic.instances < MINIMUM_INSTANCES || share < MINIMUM_SYNC_SHARE ||
        traffic.GetServiceTime(Phase::Sync) < SLOW_SYNC)
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "fsync";
    finding.title = "Ingest waits for the disk to make each file durable";
    finding.explanation =
        "Orthanc asks for each file to be on the disk itself before it goes on (fsync, "
        "\"SyncStorageArea\"). That takes " +
        SayTime(traffic.GetMean(Phase::Sync)) + " here, " + SayShare(share) +
        " of an instance's time: the disk is slow at it, or busy with something else.";
    finding.evidence["MeanSync"] = traffic.GetMean(Phase::Sync);
    finding.evidence["SyncShare"] = share;
    finding.evidence["MeanDuration"] = traffic.GetTotalSeconds() / traffic.instances;
    finding.cost =
        EstimateCost(traffic.GetSeconds(Phase::Sync), traffic.GetTotalSeconds(), traffic);
    finding.remedy =
        Remedy::Configure(MakeOption("SyncStorageArea", false),
                          "Put the storage on a disk that is fast at fsync (with a battery or "
                          "capacitors), or let Orthanc not wait: then a power failure may lose "
                          "images that were acknowledged in the last half minute.");
    return finding;
  }


  namespace
  {
    // Below the sequential rate of any local disk of today; memory takes gigabytes a second
    constexpr double SLOW_RATE = 100e6;

    constexpr double SLOW_STORAGE = 0.005;
    constexpr double MINIMUM_STORAGE_SHARE = 0.4;

    // Of the time of writing, from which on it is a server's
    constexpr double MINIMUM_REMOTE_SHARE = 0.5;


    // Where the storage area is a server, such as an object storage
    void SpeakOfServer(Finding& finding, const TrafficSums& traffic, double writing)
    {
      const double share = traffic.GetSeconds(Phase::Remote) / writing;
      finding.explanation =
          "Handing an image to the storage's server takes " + SayTime(writing / traffic.instances) +
          ", " + SayShare(writing / traffic.GetTotalSeconds()) + " of its time; " +
          SayShare(share) + " of that is spent in waiting for the server and the way to it.";
      finding.evidence["MeanRemote"] = traffic.GetMean(Phase::Remote);
      finding.remedy = Remedy::ChangeSystem(
          "Put the storage's server nearer to Orthanc, or Orthanc nearer to it: each file is sent "
          "and acknowledged before the next step. Several senders at once wait beside each other. "
          "Orthanc's object-storage plugins can write new files to a local disk first "
          "(\"HybridMode\" : \"WriteToFileSystem\").");
    }
  }


  std::optional<Finding> JudgeStorage(const Evidence& evidence)
  {
    const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
    const double writing = traffic.GetSeconds(Phase::Storage) - traffic.GetSeconds(Phase::Sync);
    const double total = traffic.GetTotalSeconds();

    if (traffic.instances < MINIMUM_INSTANCES || writing < MINIMUM_STORAGE_SHARE * total)
    {
      return std::nullopt;
    }

    const double mean = writing / traffic.instances;
    const double service = std::min(mean, traffic.GetServiceTime(Phase::Storage));
    const double rate = traffic.bytes / (service * traffic.instances);

    if (service < SLOW_STORAGE || rate > SLOW_RATE)
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "slow-storage";
    finding.title = "Writing the files is slow: " + SaySize(rate) + "/s";
    finding.explanation = "Handing an image to the file system takes " + SayTime(mean) + ", " +
                          SayShare(writing / total) +
                          " of its time, before anything is asked to be durable. A network file "
                          "system, a full or failing disk, or an antivirus look like that.";
    finding.evidence["MeanWrite"] = mean;
    finding.evidence["WriteShare"] = writing / total;
    finding.evidence["Rate"] = rate;
    finding.cost = EstimateShare(writing, traffic);
    finding.remedy =
        Remedy::ChangeSystem("Put \"StorageDirectory\" on a local, faster disk, and leave that "
                             "folder out of antivirus scans and on-access indexing.");

    if (traffic.GetSeconds(Phase::Remote) >= MINIMUM_REMOTE_SHARE * writing)
    {
      SpeakOfServer(finding, traffic, writing);
    }

    return finding;
  }


  namespace
  {
    // Storage and index together take some 4 ms on a local SSD; an object storage answers in 20 to
    // 100 ms
    constexpr double SLOW_COMMIT = 0.015;

    constexpr double MINIMUM_COMMIT_SHARE = 0.6;


    // orthanc-databases has one connection for all files, and its lock for as long as one is
    // written (StorageBackend.h)
    Remedy AdviseOnCommit(const ServerFacts& facts)
    {
      if (facts.IsStorageInDatabase())
      {
        return Remedy::ChangeSystem(
            "Keep the files in a folder (\"EnableStorage\" : false, for a new store): in the "
            "database, one is written after the other, over a single connection, however many "
            "associations or connections there are.");
      }

      return Remedy::ChangeSystem(
          "With an object storage, let senders use several associations at once, or store into a "
          "local folder first and move the files later (the Orthanc project's object storage "
          "plugins: \"HybridMode\" : \"WriteToFileSystem\", then /move-storage). With a local "
          "folder, look at its disk and at the database's.");
    }
  }


  std::optional<Finding> JudgeCommit(const Evidence& evidence)
  {
    const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
    const double share = traffic.GetShare(Phase::Commit);
    const double service = traffic.GetServiceTime(Phase::Commit);

    if (traffic.instances < MINIMUM_INSTANCES || share < MINIMUM_COMMIT_SHARE ||
        service < SLOW_COMMIT)
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "slow-commit";
    finding.title = "Storing an instance takes " + SayTime(traffic.GetMean(Phase::Commit));
    finding.explanation = "Storage and database together take " + SayShare(share) +
                          " of an instance's time. They can't be told apart here: the storage is "
                          "not a local folder, or the plugin's probe is not installed.";
    finding.evidence["MeanCommit"] = traffic.GetMean(Phase::Commit);
    finding.evidence["ServiceTime"] = service;
    finding.evidence["CommitShare"] = share;
    finding.cost = EstimateShare(traffic.GetSeconds(Phase::Commit), traffic);
    finding.remedy = AdviseOnCommit(evidence.facts);
    return finding;
  }
}
