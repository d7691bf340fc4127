// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/NetworkFigures.h"
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  std::optional<Finding> JudgeSocketBuffer(const PeerEvidence& peer, const Evidence& evidence)
  {
    const TrafficSums& traffic = peer.traffic;
    const std::optional<std::uint64_t> buffer = GetFixedBuffer(evidence.tuning, peer.direction);
    const double roundTrip = GetRoundTrip(peer);
    const double rate = GetTransferRate(peer);

    if (!buffer || traffic.instances < MINIMUM_INSTANCES || roundTrip < MINIMUM_ROUND_TRIP)
    {
      return std::nullopt;
    }

    // The kernel doubles a fixed buffer, for its own overhead: about the size asked for is
    // left for data (socket(7), SO_RCVBUF; tcp(7), tcp_adv_win_scale)
    const auto window = static_cast<double>(*buffer);
    const double limit = window / roundTrip;
    const double lost = EstimateLostToWindow(peer);

    if (rate < LIMITED_BY_WINDOW * limit || lost < MINIMUM_SHARE * traffic.GetSecondsWithPauses())
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = GetDirectedId("socket-buffers", peer.direction);
    finding.title = "A fixed buffer of " + SaySize(window) + " holds the transfer back over " +
                    SayTime(roundTrip) + " of distance";
    finding.explanation = "No more than one buffer of data can be under way at a time, and an "
                          "answer takes a round trip: " +
                          SaySize(window) + " in " + SayTime(roundTrip) + " is " + SaySize(limit) +
                          "/s at the most, however fast the line is. A fixed size switches off the "
                          "kernel's own choice, which grows with the distance.";
    finding.evidence["Buffer"] = window;
    finding.evidence["RoundTrip"] = roundTrip;
    finding.evidence["WindowLimit"] = limit;  // bytes a second
    finding.evidence["Rate"] = rate;
    finding.cost = EstimateBufferCost(peer, evidence);
    finding.remedy = Remedy::Tune(MakeOption("DicomSockets", GetBufferKey(peer.direction), "auto"),
                                  "Let the kernel choose the buffer. It takes effect at once, also "
                                  "on associations that are open.");
    return finding;
  }
}
