// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Rule.h"

#include <optional>
#include <vector>

namespace OrthancPerf
{
  // All rules there are, as tables: each row has a finding's identifier and the function that finds
  // it, which stands above its table with what it takes for enough evidence, and why. To add a
  // finding, add such a function, a row, and its words to Findings.json; then let
  // "Resources/Documentation/make-page.py reference" write its row of reference.md.
  std::vector<Rule> MakeAllRules();

  // Failures, threads, options
  std::vector<Rule> MakeServerRules();
  std::vector<Rule> MakeMemoryRules();

  // By peer
  std::vector<Rule> MakeNetworkRules();
  Rule MakeWindowRule();

  // Storage, database, MD5, and whether the processor is short
  std::vector<Rule> MakeStoringRules();

  // Engines
  std::vector<Rule> MakeTranscodingRules();

  // Requests that read
  std::vector<Rule> MakeReadRules();


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
