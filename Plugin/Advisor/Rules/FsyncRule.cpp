// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    // An SSD takes some 1 ms to make a file durable, up to 6 ms when others write to it; a disk 10
    // ms (a seek and a turn)
    constexpr double SLOW_SYNC = 0.008;

    // Of the time of an instance
    constexpr double MINIMUM_SYNC_SHARE = 0.5;


    class FsyncRule : public ServerRule
    {
    protected:
      std::optional<Finding> JudgeServer(const Evidence& evidence) const override
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
        finding.cost = EstimateCost(traffic.GetSeconds(Phase::Sync), traffic.GetTotalSeconds(),
                                    evidence.GetTotal(Direction::Receive));
        finding.remedy = Remedy::Configure(
            MakeOption("SyncStorageArea", false),
            "Put the storage on a disk that is fast at fsync (with a battery or capacitors), or "
            "let "
            "Orthanc not wait: then a power failure may lose images that were acknowledged in the "
            "last half minute.");
        return finding;
      }
    };
  }


  std::unique_ptr<IRule> MakeFsyncRule()
  {
    return std::make_unique<FsyncRule>();
  }
}
