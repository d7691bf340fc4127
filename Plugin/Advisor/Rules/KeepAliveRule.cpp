// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    constexpr double MINIMUM_FIRST_SHARE = 0.9;


    class KeepAliveRule : public ServerRule
    {
    protected:
      std::optional<Finding> JudgeServer(const Evidence& evidence) const override
      {
        const TrafficSums& traffic = evidence.GetOrigin(Origin::RestApi);

        if (evidence.facts.IsOn("KeepAlive", true) || traffic.instances < MINIMUM_INSTANCES ||
            traffic.firstMessages < MINIMUM_FIRST_SHARE * traffic.instances)
        {
          return std::nullopt;
        }

        Finding finding;
        finding.id = "keep-alive";
        finding.title = "Each upload needs a connection of its own";
        finding.explanation =
            "\"KeepAlive\" is off: Orthanc closes an HTTP connection after each answer. A new one "
            "costs a round trip, over HTTPS three and some processor time, and begins slowly "
            "again.";
        finding.evidence["Uploads"] = traffic.instances;
        finding.evidence["FirstOnTheirConnection"] = traffic.firstMessages / traffic.instances;
        finding.cost = EstimateShare(0, evidence.GetTotal(Direction::Receive));
        finding.remedy = Remedy::Configure(MakeOption("KeepAlive", true), "Keep connections open.");
        return finding;
      }
    };
  }


  std::unique_ptr<IRule> MakeKeepAliveRule()
  {
    return std::make_unique<KeepAliveRule>();
  }
}
