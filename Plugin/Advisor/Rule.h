// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Evidence.h"

#include <json/value.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  // What a finding costs. Both are estimates from the evidence, not promises.
  struct Cost
  {
    double shareOfIngestTime = 0;  // 0 to 1, of the time of all instances in that direction
    std::optional<double> gain;    // how many times faster those concerned would be without it
  };

  struct Remedy
  {
    // "Tuning": the document is a merge patch for PUT /perf/tuning; "Configuration": options of
    // Orthanc's configuration; "System": something outside of Orthanc on its machine, as a sysctl
    // or a disk; "Peer": something that the peer's administrator can do
    std::string kind;

    Json::Value document;  // null for the last two
    std::string text;      // plain words
  };

  // What holds ingest back, why that is believed, and what to do. A value.
  struct Finding
  {
    std::string id;                            // stable: "delayed-ack"
    std::string peer;                          // empty: it is about the whole server
    std::string title;                         // one sentence
    std::string explanation;                   // what happens, and why
    Json::Value evidence = Json::objectValue;  // the figures, by names in PascalCase
    Cost cost;
    Remedy remedy;
    std::int64_t since = 0;  // seconds since 1970; set by the advisor
  };

  struct FindingRecord
  {
    std::string id;
    std::string peer;  // empty: it was about the whole server
    std::string title;
    std::int64_t begin = 0;           // seconds since 1970
    std::optional<std::int64_t> end;  // nothing: it is still there
  };

  struct Judgement
  {
    using Figures = std::initializer_list<std::pair<const char*, Json::Value>>;

    Judgement(Figures figures, const Cost& cost = {}, const char* variant = "", Figures words = {});

    Json::Value figures = Json::objectValue;  // Finding::evidence
    Cost cost;
    std::string variant;                    // of the texts; empty: the only one, or the usual one
    Json::Value words = Json::objectValue;  // for the texts alone, which have the figures as well
    Json::Value document;                   // of the remedy; null: the one of the texts, if any
  };

  // The judgement if its condition holds. Where it does not, the figures may be any numbers.
  std::optional<Judgement> JudgeIf(bool isFound, Judgement::Figures figures, const Cost& cost = {},
                                   const char* variant = "", Judgement::Figures words = {});

  // Findings.json, the file with the words of all findings, which CMake builds in. Each has
  //
  //   "fsync": {
  //     "Title": "Making a file durable takes {MeanSync time}",
  //     "Explanation": "That is {SyncShare share} of an instance's time.",
  //     "Remedy": {"Kind": "Configuration", "Document": {"SyncStorageArea": false}, "Text": "…"},
  //     "Variants": {"remote": {"Explanation": "…"}},  // what is different in a variant
  //     "Documentation": {…}}                          // the row of Documentation/reference.md
  //
  // A text may be a list of sentences. {Name} stands for a figure or a word of the judgement. A
  // unit behind the name says how a number is written:
  //
  //   {Name time}     0.04 as "40 ms"        {Name count}    2.7 as "3"
  //   {Name size}     65536 as "64 KiB"      {Name number}   5.32 as "5.3"
  //   {Name share}    0.85 as "85 %"
  const Json::Value& GetFindingTexts();

  // The finding of this identifier, without a peer. What the file does not have is left empty.
  Finding Describe(const std::string& id, const Judgement& judgement);

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

  // All rules there are, as tables. Each row has a finding's identifier and the function that finds
  // it. The function stands above its table, with what is enough evidence, and why. To add a
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
