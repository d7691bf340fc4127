// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <algorithm>
#include <cmath>

namespace OrthancPerf
{
  namespace
  {
    // One or two may be files that only Orthanc finds fault with
    constexpr double TOLERATED_FAILURES = 2;

    // As the alert OrthancInstancesFail
    constexpr double MINIMUM_FAILED_SHARE = 0.01;
  }


  // The other rules ask for enough instances to tell what is slow: what is lost is lost, also where
  // nothing else came
  std::optional<Finding> JudgeFailures(const Evidence& evidence)
  {
    const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);

    if (traffic.ownFailures <= TOLERATED_FAILURES ||
        traffic.ownFailures < MINIMUM_FAILED_SHARE * traffic.instances)
    {
      return std::nullopt;
    }

    const double share = traffic.ownFailures / traffic.instances;

    Finding finding;
    finding.id = "failed-instances";
    finding.title = SayShare(share) + " of the images that came lately were not stored";
    finding.explanation =
        "Orthanc could read them, and their senders got an error, or no answer at "
        "all. Why, of the latest: " +
        evidence.latestFailure + ".";
    finding.evidence["Failed"] = static_cast<Json::Int64>(std::lround(traffic.ownFailures));
    finding.evidence["FailedShare"] = share;
    finding.evidence["Reason"] = evidence.latestFailure;
    finding.cost.shareOfIngestTime = share;  // the work on them was in vain
    finding.remedy = Remedy::ChangeSystem(
        "Orthanc's log says why: free space where a disk is full (\"StorageDirectory\", "
        "\"IndexDirectory\"), mount one again that is read-only or gone, bring the database's "
        "server back. Then the senders have to send again; GET /perf/instances names them.");
    return finding;
  }


  namespace
  {
    struct Obstacle
    {
      const char* name;
      const char* remedy;
    };


    Obstacle FindObstacle(Phase phase)
    {
      switch (phase)
      {
        case Phase::Storage:
          return {"the storage",
                  "Look whether a file can be written in \"StorageDirectory\", and what the kernel "
                  "(dmesg) and, of a network drive, its server say of that disk."};

        case Phase::Index:
          return {"the database",
                  "Look whether the database answers, what locks it has, and at its disk: that of "
                  "\"IndexDirectory\", or of its server."};

        case Phase::Commit:
          return {"the storage or the database",
                  "Look whether the storage and the database answer, at their disks, and at what "
                  "locks the database has."};

        default:
          return {
              "what comes before the storage",
              "Look at Lua scripts and the filters of other plugins, and at the database, which "
              "newer releases of Orthanc ask before they store."};
      }
    }


    bool IsSilentForLess(const StuckInstance& a, const StuckInstance& b)
    {
      return a.silence < b.silence;
    }
  }


  // A single one is enough: what is only slow is not among them (InstanceTracker::ListStuck)
  std::optional<Finding> JudgeStuck(const Evidence& evidence)
  {
    const std::vector<StuckInstance>& stuck = evidence.stuck;

    if (stuck.empty())
    {
      return std::nullopt;
    }

    const StuckInstance longest = *std::max_element(stuck.begin(), stuck.end(), IsSilentForLess);
    const double traffic = evidence.GetTotal(Direction::Receive).GetSecondsWithPauses();
    const Obstacle obstacle = FindObstacle(longest.phase);
    double waited = 0;

    for (const StuckInstance& instance : stuck)
    {
      waited += ToSeconds(instance.silence);
    }

    Finding finding;
    finding.id = "stuck-instances";
    finding.title = "Instances in flight wait for " + std::string(obstacle.name) + ": " +
                    std::to_string(stuck.size()) + ", for " + SayTime(ToSeconds(longest.silence)) +
                    " so far";
    finding.explanation = "Orthanc has them in memory, and has neither stored them nor answered "
                          "their senders, who give up at some time and have to send again. What "
                          "waits is stored when Orthanc can go on.";
    finding.evidence["Instances"] = static_cast<Json::UInt64>(stuck.size());
    finding.evidence["Phase"] = ToLabel(longest.phase);
    finding.evidence["LongestTime"] = ToSeconds(longest.silence);
    finding.cost.shareOfIngestTime = waited / (waited + traffic);
    finding.remedy = Remedy::ChangeSystem(obstacle.remedy);
    return finding;
  }
}
