// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rule.h"

#include "Tuning/Json.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace OrthancPerf
{
  extern const std::string_view FINDINGS_JSON;  // Resources/CMake/Findings.cpp.in

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

    std::string Format(const char* format, double value)
    {
      std::array<char, 32> text = {};
      const int length = std::snprintf(text.data(), text.size(), format, value);
      return length < 0 ? std::string() : text.data();
    }

    std::string SaySize(double bytes)
    {
      constexpr double KIBIBYTE = 1024;
      constexpr double MEBIBYTE = 1024 * KIBIBYTE;
      return bytes < MEBIBYTE ? Format("%.0f KiB", bytes / KIBIBYTE)
                              : Format("%.1f MiB", bytes / MEBIBYTE);
    }

    std::string SayNumber(double number, const std::string& unit)
    {
      return unit == "time"
                 ? Format(number < 1 ? "%.3g ms" : "%.3g s", number < 1 ? number * 1000 : number)
             : unit == "size"  ? SaySize(number)
             : unit == "share" ? Format("%.0f %%", number * 100)
             : unit == "count" ? Format("%.0f", number)
                               : Format("%.1f", number);
    }

    // A missing figure is left as it is, for a test to see
    std::string Say(const std::string& placeholder, const Judgement& judgement)
    {
      const std::size_t end = placeholder.find(' ');
      const std::string name = placeholder.substr(0, end);
      const Json::Value& value =
          judgement.words.isMember(name) ? judgement.words[name] : judgement.figures[name];
      return value.isNull()             ? "{" + placeholder + "}"
             : end == std::string::npos ? value.asString()
                                        : SayNumber(value.asDouble(), placeholder.substr(end + 1));
    }

    std::string Fill(const std::string& text, const Judgement& judgement)
    {
      std::string filled;
      std::size_t place = 0;
      std::size_t begin = text.find('{');

      for (std::size_t end = text.find('}', begin); end != std::string::npos;
           end = text.find('}', begin))
      {
        filled += text.substr(place, begin - place);
        filled += Say(text.substr(begin + 1, end - begin - 1), judgement);
        place = end + 1;
        begin = text.find('{', place);
      }

      return filled + text.substr(place);
    }

    std::string Render(const Json::Value& text, const Judgement& judgement)
    {
      if (!text.isArray())
      {
        return Fill(text.asString(), judgement);
      }

      std::string sentences;

      for (const Json::Value& sentence : text)
      {
        sentences += (sentences.empty() ? "" : " ") + Fill(sentence.asString(), judgement);
      }

      return sentences;
    }
  }

  Judgement::Judgement(Figures figures, const Cost& cost, const char* variant, Figures words) :
    cost(cost),
    variant(variant)
  {
    for (const auto& [name, value] : figures)
    {
      this->figures[name] = value;
    }

    for (const auto& [name, value] : words)
    {
      this->words[name] = value;
    }
  }

  std::optional<Judgement> JudgeIf(bool isFound, Judgement::Figures figures, const Cost& cost,
                                   const char* variant, Judgement::Figures words)
  {
    return isFound ? std::optional<Judgement>(Judgement(figures, cost, variant, words))
                   : std::nullopt;
  }

  const Json::Value& GetFindingTexts()
  {
    static const Json::Value texts = ReadJson(FINDINGS_JSON);
    return texts;
  }

  Finding Describe(const std::string& id, const Judgement& judgement)
  {
    const Json::Value& texts = GetFindingTexts()[id];
    const Json::Value& variant = texts["Variants"][judgement.variant];
    const auto find = [&](const char* part) -> const Json::Value&
    {
      return variant.isMember(part) ? variant[part] : texts[part];
    };

    Finding finding;
    finding.id = id;
    finding.title = Render(find("Title"), judgement);
    finding.explanation = Render(find("Explanation"), judgement);
    finding.evidence = judgement.figures;
    finding.cost = judgement.cost;

    const Json::Value& remedy = find("Remedy");
    finding.remedy = {remedy["Kind"].asString(),
                      judgement.document.isNull() ? remedy["Document"] : judgement.document,
                      Render(remedy["Text"], judgement)};
    return finding;
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
