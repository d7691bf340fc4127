// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rule.h"

#include "Advisor/FindingTexts.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace OrthancPerf
{
  namespace
  {
    // No estimate promises more
    constexpr double MAXIMUM_GAIN = 100;


    std::string Format(const char* format, double value)
    {
      std::array<char, 32> text = {};
      const int length = std::snprintf(text.data(), text.size(), format, value);
      return length < 0 ? std::string() : text.data();
    }


    double GetShareOfAll(double lost, const TrafficSums& all)
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


  Judgement::Judgement(Figures figures, const Cost& cost, const char* variant) :
    cost(cost),
    variant(variant)
  {
    for (const auto& [name, value] : figures)
    {
      this->figures[name] = value;
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


  Cost EstimateCost(double lost, double scope, const TrafficSums& all)
  {
    Cost cost = EstimateShare(lost, all);
    const double rest = scope - lost;
    cost.gain = rest > scope / MAXIMUM_GAIN ? scope / rest : MAXIMUM_GAIN;
    return cost;
  }


  Cost EstimateShare(double lost, const TrafficSums& all)
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


  std::string SayTime(double seconds)
  {
    return seconds < 1 ? Format("%.3g ms", seconds * 1000) : Format("%.3g s", seconds);
  }


  std::string SaySize(double bytes)
  {
    constexpr double KIBIBYTE = 1024;
    constexpr double MEBIBYTE = 1024 * KIBIBYTE;
    return bytes < MEBIBYTE ? Format("%.0f KiB", bytes / KIBIBYTE)
                            : Format("%.1f MiB", bytes / MEBIBYTE);
  }


  std::string SayNumber(double number)
  {
    return Format("%.1f", number);
  }


  std::string SayShare(double share)
  {
    return Format("%.0f %%", share * 100);
  }
}
