// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    // SQLite on an SSD takes some 2 ms for an instance (190 page writes), PostgreSQL on the same
    // machine 3 to 5 ms
    constexpr double SLOW_INDEX = 0.008;

    constexpr double MINIMUM_INDEX_SHARE = 0.5;


    class IndexRule : public ServerRule
    {
    protected:
      std::optional<Finding> JudgeServer(const Evidence& evidence) const override
      {
        const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
        const double share = traffic.GetShare(Phase::Index);
        const double service = traffic.GetServiceTime(Phase::Index);

        if (traffic.instances < MINIMUM_INSTANCES || share < MINIMUM_INDEX_SHARE ||
            service < SLOW_INDEX)
        {
          return std::nullopt;
        }

        const ServerFacts& facts = evidence.facts;

        Finding finding;
        finding.id = "index";
        finding.title = "Ingest waits for the database: " + SayTime(service) + " for an instance";
        finding.explanation = Explain(facts);
        finding.evidence["Database"] = facts.hasDatabasePlugin ? "plugin" : "SQLite";
        finding.evidence["MeanIndex"] = traffic.GetMean(Phase::Index);
        finding.evidence["ServiceTime"] = service;
        finding.evidence["IndexShare"] = share;
        finding.cost =
            EstimateShare(traffic.GetSeconds(Phase::Index), evidence.GetTotal(Direction::Receive));
        finding.remedy = Advise(facts);
        return finding;
      }

    private:
      static std::string Explain(const ServerFacts& facts)
      {
        return facts.hasDatabasePlugin
                   ? "Each instance makes many statements, one after the other: each of them is a "
                     "round trip to the database server, and a commit that its disk has to take."
                   : "SQLite writes some 190 pages for an instance, under one lock for all "
                     "threads: "
                     "its disk is slow, or busy with something else.";
      }


      static Remedy Advise(const ServerFacts& facts)
      {
        if (facts.hasDatabasePlugin)
        {
          return Remedy::ChangeSystem(
              "Put the database server on Orthanc's own machine or next to it, on an SSD; give it "
              "\"IndexConnectionsCount\" connections for as many senders as there are at once.");
        }

        return Remedy::Configure(
            MakeOption("IndexDirectory", "/a/folder/on/an/SSD"),
            "Put the index on an SSD (move the file \"index\" there while Orthanc is stopped), or "
            "use the PostgreSQL plugin.");
      }
    };
  }


  std::unique_ptr<IRule> MakeIndexRule()
  {
    return std::make_unique<IndexRule>();
  }
}
