// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Rule.h"

namespace OrthancPerf
{
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
