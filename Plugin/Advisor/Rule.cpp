// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rule.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // No estimate promises more
    constexpr double MAXIMUM_GAIN = 100;


    double GetShareOfAll(double lost, const TrafficBucket& all)
    {
      const double total = all.GetSecondsWithPauses();
      return total > 0 ? std::clamp(lost / total, 0.0, 1.0) : 0;
    }


    bool IsIn(Scope scope, Direction direction)
    {
      return scope == Scope::BothWays ||
             scope == (direction == Direction::Receive ? Scope::Received : Scope::Sent);
    }
  }


  Rule::Rule(const char* id, Scope scope, OfPeer judge)
  {
    judge_ = [id = std::string(id), scope, judge](const Evidence& evidence)
    {
      std::vector<Finding> findings;

      for (const PeerEvidence& peer : evidence.peers)
      {
        if (const std::optional<Judgement> judgement =
                IsIn(scope, peer.direction) ? judge(peer, evidence) : std::nullopt)
        {
          Finding finding = Describe(id, *judgement);
          finding.peer = peer.name;
          finding.id +=
              scope == Scope::BothWays && peer.direction == Direction::Send ? "-sending" : "";
          findings.push_back(std::move(finding));
        }
      }

      return findings;
    };
  }


  Rule::Rule(const char* id, OfServer judge)
  {
    judge_ = [id = std::string(id), judge](const Evidence& evidence)
    {
      const std::optional<Judgement> judgement = judge(evidence);
      return judgement ? std::vector<Finding>{Describe(id, *judgement)} : std::vector<Finding>();
    };
  }


  Cost EstimateCost(double lost, double scope, const TrafficBucket& all)
  {
    Cost cost = EstimateShare(lost, all);
    const double rest = scope - lost;
    cost.gain = rest > scope / MAXIMUM_GAIN ? scope / rest : MAXIMUM_GAIN;
    return cost;
  }


  Cost EstimateShare(double lost, const TrafficBucket& all)
  {
    Cost cost;
    cost.shareOfIngestTime = GetShareOfAll(lost, all);
    return cost;
  }


  Json::Value MakeOption(const char* key, const Json::Value& value)
  {
    Json::Value option;
    option[key] = value;
    return option;
  }


  Json::Value MakeOption(const char* section, const char* key, const Json::Value& value)
  {
    return MakeOption(section, MakeOption(key, value));
  }


  std::vector<Rule> MakeAllRules()
  {
    std::vector<Rule> rules;

    for (const std::vector<Rule>& table : {MakeServerRules(),
                                           MakeMemoryRules(),
                                           MakeNetworkRules(),
                                           {MakeWindowRule()},
                                           MakeStoringRules(),
                                           MakeTranscodingRules()})
    {
      rules.insert(rules.end(), table.begin(), table.end());
    }

    return rules;
  }
}
