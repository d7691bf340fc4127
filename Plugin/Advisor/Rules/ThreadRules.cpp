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

    // Instances at work at once, for a core, that are too many: report 002 gains up to 1.3
    // associations a core
    constexpr double INSTANCES_PER_CORE = 6;
    constexpr double MINIMUM_INSTANCES_AT_ONCE = 12;

    // Traffic long enough for a mean, in seconds
    constexpr double MINIMUM_ACTIVE = 3;


    // DICOM threads that are enough for these cores: two at work for each, and as many that are
    // held by silent associations. All of them at work are still less than too many.
    std::uint64_t GetEnoughThreads(const ServerFacts& facts)
    {
      return std::max<std::uint64_t>(2 * DEFAULT_THREADS, 4ULL * facts.cores);
    }


    // Of all instances, without what only their senders work on
    double GetSecondsAtWork(const TrafficSums& traffic)
    {
      return traffic.GetTotalSeconds() - traffic.GetSeconds(Phase::Receive);
    }


    // Instances at work at once, if they are too many; else 0. Little's law: the mean number at
    // work is the time of all over the time on the wall.
    double FindTooManyAtOnce(const Evidence& evidence)
    {
      const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);

      if (traffic.instances < MINIMUM_INSTANCES || traffic.activeSeconds < MINIMUM_ACTIVE)
      {
        return 0;
      }

      const double atOnce = GetSecondsAtWork(traffic) / traffic.activeSeconds;
      const double tooMany =
          std::max(MINIMUM_INSTANCES_AT_ONCE, INSTANCES_PER_CORE * evidence.facts.cores);
      return atOnce < tooMany ? 0 : atOnce;
    }
  }


  std::optional<Finding> JudgeDicomThreads(const Evidence& evidence)
  {
    const LoadEvidence& load = evidence.load;
    const TrafficSums& traffic = evidence.GetOrigin(Origin::DicomProtocol);
    const std::uint64_t threads = evidence.facts.GetNumber("DicomThreadsCount", DEFAULT_THREADS);
    const std::uint64_t enough = GetEnoughThreads(evidence.facts);

    if (load.looks < MINIMUM_LOOKS || load.waiting < MINIMUM_WAITING || threads >= enough ||
        traffic.instances < MINIMUM_INSTANCES || FindTooManyAtOnce(evidence) > 0)
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
        "\"DicomThreadsCount\" threads; an association that is open and silent takes a thread for "
        "a second in each turn. The others wait although their data is there.";
    finding.evidence["DicomThreadsCount"] = static_cast<Json::UInt64>(threads);
    finding.evidence["OpenAssociations"] = load.associations;
    finding.evidence["WaitingAssociations"] = load.waiting;
    finding.evidence["MeanPause"] = traffic.GetMean(Phase::Idle);
    finding.cost =
        EstimateShare(traffic.GetSeconds(Phase::Idle), evidence.GetTotal(Direction::Receive));
    finding.remedy = Remedy::Configure(
        MakeOption("DicomThreadsCount",
                   static_cast<Json::UInt64>(std::clamp(wanted, threads + 1, enough))),
        "Give Orthanc a thread for each association that is open at once, up to " +
            std::to_string(enough) + " with these cores.");
    return finding;
  }


  namespace
  {
    Remedy Advise(const ServerFacts& facts)
    {
      const std::uint64_t enough = GetEnoughThreads(facts);

      if (facts.GetNumber("DicomThreadsCount", DEFAULT_THREADS) > enough)
      {
        return Remedy::Configure(
            MakeOption("DicomThreadsCount", static_cast<Json::UInt64>(enough)),
            "So many DICOM threads are enough for these cores: further associations wait their "
            "turn.");
      }

      return Remedy::AskPeer("Let the clients upload over fewer connections at once.");
    }
  }


  std::optional<Finding> JudgeParallelism(const Evidence& evidence)
  {
    const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
    const double cores = evidence.facts.cores;
    const double atOnce = FindTooManyAtOnce(evidence);

    if (atOnce <= 0)
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "parallel-ingest";
    finding.title = "More instances are at work at once than the processor has cores for";
    finding.explanation = "On average " + std::to_string(static_cast<int>(atOnce)) +
                          " instances share " + std::to_string(evidence.facts.cores) +
                          " cores and the database: each of them takes longer, all together are no "
                          "faster, and memory grows with their number.";
    finding.evidence["InstancesAtOnce"] = atOnce;
    finding.evidence["Cores"] = evidence.facts.cores;
    finding.evidence["OpenAssociations"] = evidence.load.associations;
    finding.cost = EstimateShare(GetSecondsAtWork(traffic) * (1 - cores / atOnce), traffic);
    finding.remedy = Advise(evidence.facts);
    return finding;
  }
}
