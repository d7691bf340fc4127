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
  }


  std::optional<Finding> JudgeDicomThreads(const Evidence& evidence)
  {
    const LoadEvidence& load = evidence.load;
    const TrafficSums& traffic = evidence.GetOrigin(Origin::DicomProtocol);
    const std::uint64_t threads = evidence.facts.GetNumber("DicomThreadsCount", DEFAULT_THREADS);
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
                   static_cast<Json::UInt64>(std::clamp(wanted, threads + 1, most))),
        "Give Orthanc a thread for each association that is open at once.");
    return finding;
  }


  namespace
  {
    // Instances at work at once, for a core: report 002 gains up to 1.3 associations a core
    constexpr double INSTANCES_PER_CORE = 6;
    constexpr double MINIMUM_INSTANCES_AT_ONCE = 12;

    // Traffic long enough for a mean, in seconds
    constexpr double MINIMUM_ACTIVE = 3;


    Remedy Advise(const ServerFacts& facts)
    {
      const std::uint64_t enough = std::max<std::uint64_t>(DEFAULT_THREADS, 2ULL * facts.cores);

      if (facts.GetNumber("DicomThreadsCount", DEFAULT_THREADS) > enough)
      {
        return Remedy::Configure(
            MakeOption("DicomThreadsCount", static_cast<Json::UInt64>(enough)),
            "Two DICOM threads for a core are enough: further associations wait their turn.");
      }

      return Remedy::AskPeer("Let the clients upload over fewer connections at once.");
    }
  }


  std::optional<Finding> JudgeParallelism(const Evidence& evidence)
  {
    const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
    const double cores = evidence.facts.cores;

    if (traffic.instances < MINIMUM_INSTANCES || traffic.activeSeconds < MINIMUM_ACTIVE)
    {
      return std::nullopt;
    }

    // Little's law: the mean number at work is the time of all over the time on the wall
    const double atWork = traffic.GetTotalSeconds() - traffic.GetSeconds(Phase::Receive);
    const double atOnce = atWork / traffic.activeSeconds;

    if (atOnce < std::max(MINIMUM_INSTANCES_AT_ONCE, INSTANCES_PER_CORE * cores))
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
    finding.cost = EstimateShare(atWork * (1 - cores / atOnce), traffic);
    finding.remedy = Advise(evidence.facts);
    return finding;
  }
}
