// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint64_t DEFAULT_THREADS = 4;

    // Instances at work at once, for a core: report 002 gains up to 1.3 associations a core
    constexpr double INSTANCES_PER_CORE = 6;
    constexpr double MINIMUM_INSTANCES_AT_ONCE = 12;

    // Traffic long enough for a mean, in seconds
    constexpr double MINIMUM_ACTIVE = 3;


    class ParallelismRule : public ServerRule
    {
    protected:
      std::optional<Finding> JudgeServer(const Evidence& evidence) const override
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
        finding.explanation =
            "On average " + std::to_string(static_cast<int>(atOnce)) + " instances share " +
            std::to_string(evidence.facts.cores) +
            " cores and the database: each of them takes longer, all together are no faster, and "
            "memory grows with their number.";
        finding.evidence["InstancesAtOnce"] = atOnce;
        finding.evidence["Cores"] = evidence.facts.cores;
        finding.evidence["OpenAssociations"] = evidence.load.associations;
        finding.cost =
            EstimateShare(atWork * (1 - cores / atOnce), evidence.GetTotal(Direction::Receive));
        finding.remedy = Advise(evidence.facts);
        return finding;
      }

    private:
      static Remedy Advise(const ServerFacts& facts)
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
    };
  }


  std::unique_ptr<IRule> MakeParallelismRule()
  {
    return std::make_unique<ParallelismRule>();
  }
}
