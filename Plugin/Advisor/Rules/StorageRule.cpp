// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // Below the sequential rate of any local disk of today; memory takes gigabytes a second
    constexpr double SLOW_RATE = 100e6;

    constexpr double SLOW_STORAGE = 0.005;
    constexpr double MINIMUM_STORAGE_SHARE = 0.4;


    class StorageRule : public ServerRule
    {
    protected:
      std::optional<Finding> JudgeServer(const Evidence& evidence) const override
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
        finding.explanation =
            "Handing an image to the file system takes " + SayTime(mean) + ", " +
            SayShare(writing / total) +
            " of its time, before anything is asked to be durable. A network "
            "file system, a full or failing disk, or an antivirus look like that.";
        finding.evidence["MeanWrite"] = mean;
        finding.evidence["WriteShare"] = writing / total;
        finding.evidence["Rate"] = rate;
        finding.cost = EstimateShare(writing, evidence.GetTotal(Direction::Receive));
        finding.remedy = Remedy::ChangeSystem("Put \"StorageDirectory\" on a local, faster disk, "
                                              "and leave that folder out of antivirus "
                                              "scans and on-access indexing.");
        return finding;
      }
    };
  }


  std::unique_ptr<IRule> MakeStorageRule()
  {
    return std::make_unique<StorageRule>();
  }
}
