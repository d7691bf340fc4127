// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rule.h"

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
  }


  Rule::Rule(OfPeer judge)
  {
    judge_ = [judge](const Evidence& evidence)
    {
      std::vector<Finding> findings;

      for (const PeerEvidence& peer : evidence.peers)
      {
        if (std::optional<Finding> finding = judge(peer, evidence))
        {
          finding->peer = peer.name;
          findings.push_back(std::move(*finding));
        }
      }

      return findings;
    };
  }


  Rule::Rule(OfServer judge)
  {
    judge_ = [judge](const Evidence& evidence)
    {
      const std::optional<Finding> finding = judge(evidence);
      return finding ? std::vector<Finding>{*finding} : std::vector<Finding>();
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
