// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Hashing.h"
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    // With images of half a megabyte on an SSD it is a quarter: what the checksum is worth. Large
    // instances are another thing.
    constexpr double MINIMUM_MD5_SHARE = 0.30;
    constexpr double LARGE_INSTANCE = 2e6;  // bytes: 4 to 8 ms


    class Md5Rule : public ServerRule
    {
    protected:
      std::optional<Finding> JudgeServer(const Evidence& evidence) const override
      {
        const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
        const double hashing = EstimateMd5(traffic, evidence.facts);
        const double total = traffic.GetTotalSeconds();

        if (traffic.instances < MINIMUM_INSTANCES ||
            traffic.bytes < LARGE_INSTANCE * traffic.instances ||
            hashing < MINIMUM_MD5_SHARE * total)
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
        finding.cost = EstimateCost(hashing, total, evidence.GetTotal(Direction::Receive));
        finding.remedy = Remedy::Configure(
            MakeOption("StoreMD5ForAttachments", false),
            "Go without the sums, if nobody checks them (/instances/{id}/attachments/dicom/"
            "verify-md5) and the file system has its own (ZFS, btrfs).");
        return finding;
      }
    };
  }


  std::unique_ptr<IRule> MakeMd5Rule()
  {
    return std::make_unique<Md5Rule>();
  }
}
