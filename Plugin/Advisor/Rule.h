// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Evidence.h"
#include "Advisor/Finding.h"

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  // What a rule has found
  struct Judgement
  {
    using Figures = std::initializer_list<std::pair<const char*, Json::Value>>;

    Judgement(Figures figures, const Cost& cost = {}, const char* variant = "");

    Json::Value figures = Json::objectValue;  // Finding::evidence
    Cost cost;
    std::string variant;                    // of the texts; empty: the only one, or the usual one
    Json::Value words = Json::objectValue;  // for the texts alone, which have the figures as well
    Json::Value document;                   // of the remedy; null: the one of the texts, if any
  };

  // What a rule looks at: the whole server, or each peer by itself
  enum class Scope
  {
    Server,
    Received,  // what peers send to Orthanc
    Sent,      // what Orthanc sends to them
    BothWays   // for what is sent, the finding's identifier ends in "-sending"
  };

  // One thing that can hold ingest back: a row of an identifier, what it looks at, and a function
  // from evidence to figures and cost. Its words are in Findings.json, under the identifier. A
  // finding is there as long as its cause is in the evidence, and never on too little of it. Rules
  // keep nothing between two judgements; any thread may call them.
  //
  //   std::optional<Judgement> JudgeFsync(const Evidence& evidence);
  //   const std::vector<Rule> rules = {{"fsync", &JudgeFsync}};
  //   for (const Finding& finding : rules[0].Judge(evidence)) …
  class Rule
  {
  public:
    using OfPeer = std::optional<Judgement> (*)(const PeerEvidence& peer, const Evidence& evidence);
    using OfServer = std::optional<Judgement> (*)(const Evidence& evidence);
    using OfAll = std::function<std::vector<Finding>(const Evidence& evidence)>;

    Rule(const char* id, Scope scope, OfPeer judge);
    Rule(const char* id, OfServer judge);

    // Whose findings are complete
    explicit Rule(OfAll judge) : judge_(std::move(judge))
    {
    }

    std::vector<Finding> Judge(const Evidence& evidence) const
    {
      return judge_(evidence);
    }

  private:
    OfAll judge_;
  };


  // Fewer instances than these say nothing: the first ones of a connection and of a new patient
  // are always slower (slow start, directories, caches)
  constexpr double MINIMUM_INSTANCES = 20;

  // What takes less of the time than this is not worth anybody's while
  constexpr double MINIMUM_SHARE = 0.05;

  // What "lost" seconds cost those instances whose time is "scope", and all in their direction
  Cost EstimateCost(double lost, double scope, const TrafficSums& all);

  // The same where it cannot be told how much would be won
  Cost EstimateShare(double lost, const TrafficSums& all);

  // {key: value}, and {section: {key: value}}
  Json::Value MakeOption(const char* key, const Json::Value& value);
  Json::Value MakeOption(const char* section, const char* key, const Json::Value& value);

  // A duration in words that need no unit key: "40 ms", "1.3 s"
  std::string SayTime(double seconds);

  // A size likewise: "64 KiB", "1.5 MiB"
  std::string SaySize(double bytes);

  // "5.3"
  std::string SayNumber(double number);

  // "0.85" as "85 %"
  std::string SayShare(double share);
}
