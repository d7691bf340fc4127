// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Evidence.h"
#include "Advisor/Finding.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  // What a rule about each peer looks at
  enum class Scope
  {
    Received,  // what peers send to Orthanc
    Sent,      // what Orthanc sends to them
    BothWays   // for what is sent, the finding's identifier ends in "-sending"
  };

  // One thing that can hold ingest back: a row of an identifier, what it looks at, and a function
  // from evidence to figures and cost. Its words are in Findings.json, under the identifier. A
  // finding is there as long as its cause is in the evidence, and never on too little of it. Rules
  // keep nothing between two judgements; any thread may call them.
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
  Cost EstimateCost(double lost, double scope, const TrafficBucket& all);

  // The same where it cannot be told how much would be won
  Cost EstimateShare(double lost, const TrafficBucket& all);

  // {key: value}, and {section: {key: value}}
  Json::Value MakeOption(const char* key, const Json::Value& value);
  Json::Value MakeOption(const char* section, const char* key, const Json::Value& value);


  // All rules there are, as tables: each row has a finding's identifier and the function that finds
  // it, which stands above its table with what it takes for enough evidence, and why. To add a
  // finding, add such a function, a row, and its words to Findings.json; then let
  // "Resources/Documentation/make-page.py reference" write its row of reference.md.
  std::vector<Rule> MakeAllRules();

  // Failures, threads, reads, options
  std::vector<Rule> MakeServerRules();
  std::vector<Rule> MakeMemoryRules();

  // By peer
  std::vector<Rule> MakeNetworkRules();
  Rule MakeWindowRule();

  // Storage, database, MD5, and whether the processor is short
  std::vector<Rule> MakeStoringRules();

  std::vector<Rule> MakeTranscodingRules();


  // ---- For rules about peers

  // In seconds. A path whose round trip is shorter is a local network: windows and round trips
  // don't matter.
  constexpr double MINIMUM_ROUND_TRIP = 0.005;


  // Seconds; 0: not known. The smallest one seen, where the kernel tells it: the smoothed one has
  // the peer's delayed acknowledgements in it.
  inline double GetRoundTrip(const PeerEvidence& peer)
  {
    return peer.tcp ? ToSeconds(peer.tcp->minimumRoundTrip.value_or(peer.tcp->roundTrip)) : 0;
  }


  inline Cost EstimatePeerShare(double lost, const PeerEvidence& peer, const Evidence& evidence)
  {
    return EstimateShare(lost, evidence.GetTotalOfPeers(peer.direction));
  }
}
