// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <algorithm>
#include <cmath>

namespace OrthancPerf
{
  namespace
  {
    // Orthanc's default
    constexpr std::uint64_t DEFAULT_THREADS = 4;

    // Five seconds of looking
    constexpr double MINIMUM_LOOKS = 10;

    // Associations with data that no thread was free for, on average
    constexpr double MINIMUM_WAITING = 0.5;

    // More threads than these for a core only make each instance slower
    constexpr std::uint64_t THREADS_PER_CORE = 8;


    class DicomThreadsRule : public ServerRule
    {
    protected:
      std::optional<Finding> JudgeServer(const Evidence& evidence) const override
      {
        const LoadEvidence& load = evidence.load;
        const TrafficSums& traffic = evidence.GetOrigin(Origin::DicomProtocol);
        const std::uint64_t threads =
            evidence.facts.GetNumber("DicomThreadsCount", DEFAULT_THREADS);
        const std::uint64_t most = THREADS_PER_CORE * evidence.facts.cores;

        if (load.looks < MINIMUM_LOOKS || load.waiting < MINIMUM_WAITING || threads >= most ||
            traffic.instances < MINIMUM_INSTANCES)
        {
          return std::nullopt;
        }

        const auto wanted = static_cast<std::uint64_t>(std::ceil(load.associations));

        Finding finding;
        finding.id = "dicom-threads";
        finding.title =
            "Associations wait for one of Orthanc's " + std::to_string(threads) + " DICOM threads";
        finding.explanation =
            "Orthanc serves the open associations in turns, one message at a time, with "
            "\"DicomThreadsCount\" threads; an association that is open and silent takes a thread "
            "for a second in each turn. The others wait although their data is there.";
        finding.evidence["DicomThreadsCount"] = static_cast<Json::UInt64>(threads);
        finding.evidence["OpenAssociations"] = load.associations;
        finding.evidence["WaitingAssociations"] = load.waiting;
        finding.evidence["MeanPause"] = traffic.GetMean(Phase::Idle);
        finding.cost =
            EstimateShare(traffic.GetSeconds(Phase::Idle), evidence.GetTotal(Direction::Receive));
        finding.remedy = Remedy::Configure(
            MakeOption("DicomThreadsCount",
                       static_cast<Json::UInt64>(std::clamp(wanted, threads + 1, most))),
            "Give Orthanc a thread for each association that is open at once.");
        return finding;
      }
    };
  }


  std::unique_ptr<IRule> MakeDicomThreadsRule()
  {
    return std::make_unique<DicomThreadsRule>();
  }
}
