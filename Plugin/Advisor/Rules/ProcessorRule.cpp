// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // What the rules say if that is all that was received. Costs are shares of really all.
    std::vector<Finding> JudgeOnly(const std::vector<Rule>& rules, const Evidence& evidence,
                                   const TrafficSums& received)
    {
      constexpr auto RECEIVE = static_cast<std::size_t>(Direction::Receive);
      const double all = evidence.totals[RECEIVE].GetSecondsWithPauses();
      const double part = all > 0 ? received.GetSecondsWithPauses() / all : 0;

      Evidence narrowed = evidence;
      narrowed.totals[RECEIVE] = received;
      std::vector<Finding> findings;

      for (const Rule& rule : rules)
      {
        for (Finding& finding : rule.Judge(narrowed))
        {
          finding.cost.shareOfIngestTime *= std::min(part, 1.0);
          findings.push_back(std::move(finding));
        }
      }

      return findings;
    }


    Finding DescribeStarved(const Evidence& evidence, const std::vector<Finding>& seen)
    {
      const TrafficSums& starved = evidence.starved;
      const double mean = starved.GetTotalSeconds() / starved.instances;

      Finding finding;
      finding.id = "processor";
      finding.title = "Ingest waits for the processor";
      finding.explanation =
          "While these images came, " + SayNumber(evidence.runnableTasks) +
          " tasks wanted to run on each processor (/proc/loadavg). An image took " + SayTime(mean) +
          ". Storage and database seem slow, but whether they are cannot be told.";
      finding.evidence["RunnableTasks"] = evidence.runnableTasks;
      finding.evidence["MeanDuration"] = mean;
      finding.evidence["Instances"] = starved.instances;
      finding.evidence["Cores"] = evidence.facts.cores;

      std::string names;

      for (const Finding& other : seen)
      {
        names += (names.empty() ? "" : ", ") + other.id;
        finding.cost.shareOfIngestTime += other.cost.shareOfIngestTime;
      }

      finding.evidence["SeemsLike"] = names;
      finding.cost.shareOfIngestTime = std::min(finding.cost.shareOfIngestTime, 1.0);
      finding.remedy = Remedy::ChangeSystem(
          "Find out which program uses the processor (top; in a virtual machine, also its \"st\", "
          "the time that the host gives to others). Move it elsewhere or to quiet hours, give the "
          "machine more cores, or Orthanc's service precedence (systemd: CPUWeight=).");
      return finding;
    }
  }


  std::vector<Finding> JudgeProcessor(const std::vector<Rule>& ofElapsedTime,
                                      const Evidence& evidence)
  {
    if (evidence.starved.instances == 0)
    {
      return JudgeOnly(ofElapsedTime, evidence, evidence.GetTotal(Direction::Receive));
    }

    std::vector<Finding> findings = JudgeOnly(ofElapsedTime, evidence, evidence.calm);
    const std::vector<Finding> ofStarved = JudgeOnly(ofElapsedTime, evidence, evidence.starved);

    if (!ofStarved.empty())
    {
      findings.push_back(DescribeStarved(evidence, ofStarved));
    }

    return findings;
  }
}
