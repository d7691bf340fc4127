// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // Where "OverwriteInstances" is a text: "Never", "Always", or "IfChanged", with which Orthanc
    // does not start without MD5 sums. It may still be a boolean there.
    constexpr OrthancRelease THREE_MODES = {1, 13, 0};


    // Bytes a second. Orthanc's MD5 is portable C, no assembler: 250 MB/s on a busy core, 500 to
    // 800 on a free one. Its zlib, of level 6, has 25 to 40 MB/s with images, 10 with few grey
    // values; with noise 13 on a free virtual core, 8.5 on a busy one.
    constexpr double SLOW_MD5 = 250e6;
    constexpr double SLOW_ZLIB = 4e6;

    // The least part of "prepare" that is MD5 with large instances; the rest copies their bytes,
    // with 1500 MB/s on a slow processor (500 for MD5), 8000 on a fast one (800 for MD5)
    constexpr double MD5_PART = 0.75;


    // All below are seconds of all instances together

    double GetPrepareWithoutCopies(const TrafficSums& traffic)
    {
      return MD5_PART * traffic.GetSeconds(Phase::Prepare);
    }


    // An estimate of the time that MD5 takes. It lies inside the phase "prepare", nearly all of
    // which it is with large instances; but no more is counted than a slow processor would need, as
    // compression, Lua and other plugins are in there, too. 0 if it is off.
    double EstimateMd5(const TrafficSums& traffic, const ServerFacts& facts)
    {
      return facts.IsOn("StoreMD5ForAttachments", true)
                 ? std::min(GetPrepareWithoutCopies(traffic), traffic.bytes / SLOW_MD5)
                 : 0;
    }


    // Where the time is longer than a slow processor needs, Lua or another plugin may be why:
    // nobody can tell then how much of it is whose
    bool IsOfOthers(double time, double longest, const ServerFacts& facts)
    {
      return facts.hasOtherFilters && time > longest;
    }


    // With images of half a megabyte on an SSD it is a quarter: what the checksum is worth. Large
    // instances are another thing.
    constexpr double MINIMUM_MD5_SHARE = 0.30;
    constexpr double LARGE_INSTANCE = 2e6;  // bytes: 4 to 8 ms


    Remedy GoWithoutSums(const ServerFacts& facts)
    {
      Json::Value options = MakeOption("StoreMD5ForAttachments", false);
      std::string text = "Go without the sums, if nobody checks them "
                         "(/instances/{id}/attachments/dicom/verify-md5) "
                         "and the file system has its own (ZFS, btrfs).";

      if (facts.GetText("OverwriteInstances", "Never") == "IfChanged")
      {
        options["OverwriteInstances"] = "Never";
      }

      if (!facts.IsOlderThan(THREE_MODES))
      {
        text += " Without them, Orthanc does not start with \"OverwriteInstances\" : "
                "\"IfChanged\".";
      }

      return Remedy::Configure(options, text);
    }
  }


  std::optional<Finding> JudgeMd5(const Evidence& evidence)
  {
    const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
    const double hashing = EstimateMd5(traffic, evidence.facts);
    const double total = traffic.GetTotalSeconds();

    if (traffic.instances < MINIMUM_INSTANCES || total <= 0 ||
        traffic.bytes < LARGE_INSTANCE * traffic.instances || hashing < MINIMUM_MD5_SHARE * total ||
        IsOfOthers(GetPrepareWithoutCopies(traffic), traffic.bytes / SLOW_MD5, evidence.facts))
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "md5";
    finding.title = "Computing MD5 sums takes " + SayShare(hashing / total) + " of the time";
    finding.explanation = "Orthanc computes the MD5 sum of each file before it is stored "
                          "(\"StoreMD5ForAttachments\"), on one core. With instances of " +
                          SaySize(traffic.bytes / traffic.instances) + " that is " +
                          SayTime(hashing / traffic.instances) + " each.";
    finding.evidence["MeanSize"] = traffic.bytes / traffic.instances;
    finding.evidence["EstimatedHashing"] = hashing / traffic.instances;
    finding.evidence["MeanPrepare"] = traffic.GetMean(Phase::Prepare);
    finding.evidence["HashingShare"] = hashing / total;
    finding.cost = EstimateCost(hashing, total, traffic);
    finding.remedy = GoWithoutSums(evidence.facts);
    return finding;
  }


  namespace
  {
    constexpr double MINIMUM_COMPRESSION_SHARE = 0.25;
  }


  std::optional<Finding> JudgeStorageCompression(const Evidence& evidence)
  {
    const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
    const ServerFacts& facts = evidence.facts;
    const double longest = traffic.bytes / SLOW_ZLIB;
    const double rest = traffic.GetSeconds(Phase::Prepare) - EstimateMd5(traffic, facts);
    const double compressing = std::min(rest, longest);
    const double total = traffic.GetTotalSeconds();

    if (!facts.IsOn("StorageCompression", false) || traffic.instances < MINIMUM_INSTANCES ||
        total <= 0 || compressing < MINIMUM_COMPRESSION_SHARE * total ||
        IsOfOthers(rest, longest, facts))
    {
      return std::nullopt;
    }

    const double mean = compressing / traffic.instances;

    Finding finding;
    finding.id = "storage-compression";
    finding.title = "Compressing the files takes " + SayShare(compressing / total) + " of the time";
    finding.explanation =
        "\"StorageCompression\" passes each file through zlib before it is stored, and back "
        "whenever it is read: " +
        SayTime(mean) + " an instance, " + SaySize(traffic.bytes / compressing) +
        "/s. A lossless transfer syntax makes images smaller than zlib does, and faster.";
    finding.evidence["MeanCompression"] = mean;
    finding.evidence["CompressionShare"] = compressing / total;
    finding.evidence["Rate"] = traffic.bytes / compressing;
    finding.cost = EstimateCost(compressing, total, traffic);
    finding.remedy = Remedy::Configure(
        MakeOption("StorageCompression", false),
        "Switch it off; files that are compressed already stay readable. To save space, transcode "
        "on ingest (\"IngestTranscoding\" of the plugin's tuning).");
    return finding;
  }


  namespace
  {
    constexpr double MINIMUM_REPEATED_SHARE = 0.2;


    // From here on, Orthanc removes the file of an instance that the database has taken without its
    // answer having come (ServerContext.cpp, StoreAfterTranscoding), and lists it. Only with
    // "OverwriteInstances" does it take another file for it, when it is sent again.
    constexpr OrthancRelease REMOVES_WHAT_IT_LISTS = {1, 12, 4};


    bool IsNeeded(const ServerFacts& facts)
    {
      return facts.hasDatabasePlugin && !facts.IsOlderThan(REMOVES_WHAT_IT_LISTS);
    }


    bool IsOverwriting(const ServerFacts& facts)
    {
      return facts.IsOn("OverwriteInstances", false) ||
             facts.GetText("OverwriteInstances", "Never") == "Always";
    }


    Remedy KeepWhatIsStored(const ServerFacts& facts)
    {
      if (facts.IsOlderThan(THREE_MODES))
      {
        return Remedy::Configure(MakeOption("OverwriteInstances", false),
                                 "Keep what is stored, unless peers really send changed instances "
                                 "under the same SOP Instance UID.");
      }

      return facts.IsOn("StoreMD5ForAttachments", true)
                 ? Remedy::Configure(MakeOption("OverwriteInstances", "IfChanged"),
                                     "Replace only what has changed, or nothing (\"Never\"), which "
                                     "goes without MD5 sums.")
                 : Remedy::Configure(MakeOption("OverwriteInstances", "Never"),
                                     "Keep what is stored. To replace only what has changed "
                                     "(\"IfChanged\"), Orthanc needs \"StoreMD5ForAttachments\".");
    }
  }


  std::optional<Finding> JudgeOverwrite(const Evidence& evidence)
  {
    const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);

    if (!IsOverwriting(evidence.facts) || IsNeeded(evidence.facts) ||
        traffic.repeated < MINIMUM_INSTANCES ||
        traffic.repeated < MINIMUM_REPEATED_SHARE * traffic.instances)
    {
      return std::nullopt;
    }

    const double share = traffic.repeated / traffic.instances;

    Finding finding;
    finding.id = "overwrite-instances";
    finding.title = SayShare(share) + " of the instances replace one that is stored already";
    finding.explanation = "With \"OverwriteInstances\", an instance that comes again is deleted, "
                          "with its file, and stored anew: twice the work in storage and database, "
                          "for what is the same instance most often.";
    finding.evidence["RepeatedShare"] = share;
    finding.evidence["MeanDuration"] = traffic.GetTotalSeconds() / traffic.instances;
    finding.cost = EstimateShare(share * (traffic.GetSeconds(Phase::Storage) +
                                          traffic.GetSeconds(Phase::Index) +
                                          traffic.GetSeconds(Phase::Commit)),
                                 traffic);
    finding.remedy = KeepWhatIsStored(evidence.facts);
    return finding;
  }
}
