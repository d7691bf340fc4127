// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    // Storage and index together take some 4 ms on a local SSD; an object storage answers in 20 to
    // 100 ms
    constexpr double SLOW_COMMIT = 0.015;

    constexpr double MINIMUM_COMMIT_SHARE = 0.6;


    class CommitRule : public ServerRule
    {
    protected:
      std::optional<Finding> JudgeServer(const Evidence& evidence) const override
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
        finding.explanation =
            "Storage and database together take " + SayShare(share) +
            " of an instance's time. They can't be told apart here: the storage is not a local "
            "folder, or the plugin's probe is not installed.";
        finding.evidence["MeanCommit"] = traffic.GetMean(Phase::Commit);
        finding.evidence["ServiceTime"] = service;
        finding.evidence["CommitShare"] = share;
        finding.cost =
            EstimateShare(traffic.GetSeconds(Phase::Commit), evidence.GetTotal(Direction::Receive));
        finding.remedy = Remedy::ChangeSystem(
            "With an object storage, let senders use several associations at once, or store into a "
            "local folder first and move the files later (the Orthanc project's object storage "
            "plugins: \"HybridMode\" : \"WriteToFileSystem\", then /move-storage). With a local "
            "folder, look at its disk and at the database's.");
        return finding;
      }
    };
  }


  std::unique_ptr<IRule> MakeCommitRule()
  {
    return std::make_unique<CommitRule>();
  }
}
