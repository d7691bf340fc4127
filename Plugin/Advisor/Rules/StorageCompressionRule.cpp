// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Hashing.h"
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    constexpr double MINIMUM_COMPRESSION_SHARE = 0.25;


    class StorageCompressionRule : public ServerRule
    {
    protected:
      std::optional<Finding> JudgeServer(const Evidence& evidence) const override
      {
        const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
        const ServerFacts& facts = evidence.facts;
        const double compressing = traffic.GetSeconds(Phase::Prepare) - EstimateMd5(traffic, facts);
        const double total = traffic.GetTotalSeconds();

        if (!facts.IsOn("StorageCompression", false) || traffic.instances < MINIMUM_INSTANCES ||
            compressing < MINIMUM_COMPRESSION_SHARE * total)
        {
          return std::nullopt;
        }

        const double mean = compressing / traffic.instances;

        Finding finding;
        finding.id = "storage-compression";
        finding.title =
            "Compressing the files takes " + SayShare(compressing / total) + " of the time";
        finding.explanation =
            "\"StorageCompression\" passes each file through zlib before it is stored, and back "
            "whenever it is read: " +
            SayTime(mean) + " an instance, " + SaySize(traffic.bytes / compressing) +
            "/s. A lossless transfer syntax makes images smaller than zlib does, and faster.";
        finding.evidence["MeanCompression"] = mean;
        finding.evidence["CompressionShare"] = compressing / total;
        finding.evidence["Rate"] = traffic.bytes / compressing;
        finding.cost = EstimateCost(compressing, total, evidence.GetTotal(Direction::Receive));
        finding.remedy = Remedy::Configure(
            MakeOption("StorageCompression", false),
            "Switch it off; files that are compressed already stay readable. To save space, "
            "transcode on ingest (\"IngestTranscoding\" of the plugin's tuning).");
        return finding;
      }
    };
  }


  std::unique_ptr<IRule> MakeStorageCompressionRule()
  {
    return std::make_unique<StorageCompressionRule>();
  }
}
