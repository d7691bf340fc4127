// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    constexpr double MINIMUM_REPEATED_SHARE = 0.2;


    // A boolean up to Orthanc 1.12.9, a text since ("Never", "Always", "IfChanged")
    bool IsOverwriting(const ServerFacts& facts)
    {
      return facts.IsOn("OverwriteInstances", false) ||
             facts.GetText("OverwriteInstances", "Never") == "Always";
    }


    class OverwriteRule : public ServerRule
    {
    protected:
      std::optional<Finding> JudgeServer(const Evidence& evidence) const override
      {
        const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);

        if (!IsOverwriting(evidence.facts) || traffic.repeated < MINIMUM_INSTANCES ||
            traffic.repeated < MINIMUM_REPEATED_SHARE * traffic.instances)
        {
          return std::nullopt;
        }

        const double share = traffic.repeated / traffic.instances;

        Finding finding;
        finding.id = "overwrite-instances";
        finding.title = SayShare(share) + " of the instances replace one that is stored already";
        finding.explanation =
            "With \"OverwriteInstances\", an instance that comes again is deleted, with its file, "
            "and stored anew: twice the work in storage and database, for what is the same "
            "instance most often.";
        finding.evidence["RepeatedShare"] = share;
        finding.evidence["MeanDuration"] = traffic.GetTotalSeconds() / traffic.instances;
        finding.cost = EstimateShare(share * (traffic.GetSeconds(Phase::Storage) +
                                              traffic.GetSeconds(Phase::Index) +
                                              traffic.GetSeconds(Phase::Commit)),
                                     evidence.GetTotal(Direction::Receive));
        finding.remedy =
            Remedy::Configure(MakeOption("OverwriteInstances", false),
                              "Keep what is stored, unless peers really send changed instances "
                              "under the same SOP Instance UID. (\"Never\" from Orthanc 1.12.10.)");
        return finding;
      }
    };
  }


  std::unique_ptr<IRule> MakeOverwriteRule()
  {
    return std::make_unique<OverwriteRule>();
  }
}
