// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/NetworkFigures.h"
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    // The sizes that toolkits fix are up to 128 KiB (DCMTK before 3.6.2: 64 KiB, in
    // dul.cc and dulfsm.cc)
    constexpr double LARGEST_FIXED_BUFFER = 160 * 1024;

    // How much more than what is under way the window, and an instance, must have room for: else
    // they might be the limit themselves
    constexpr double ROOM = 3;

    // Of the peer's time, in which its data was under way
    constexpr double MINIMUM_TRANSFER = 0.5;
  }


  std::optional<Finding> JudgePeerBuffer(const PeerEvidence& peer, const Evidence& evidence)
  {
    const TrafficSums& traffic = peer.traffic;
    const double roundTrip = GetRoundTrip(peer);

    if (peer.direction != Direction::Receive || traffic.instances < MINIMUM_INSTANCES ||
        roundTrip < MINIMUM_ROUND_TRIP || !peer.tcp->receiveWindow ||
        MayHaveWaitedForMemory(peer, evidence))
    {
      return std::nullopt;
    }

    const double underWay = GetTransferRate(peer) * roundTrip;
    const double window = *peer.tcp->receiveWindow;
    const double size = traffic.bytes / traffic.instances;

    if (underWay > LARGEST_FIXED_BUFFER || window < ROOM * underWay || size < ROOM * underWay ||
        GetTransferSeconds(peer) < MINIMUM_TRANSFER * traffic.GetSecondsWithPauses())
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "peer-buffers";
    finding.title =
        "The peer sends only " + SaySize(underWay) + " in each round trip of " + SayTime(roundTrip);
    finding.explanation = "Orthanc's window lets " + SaySize(window) +
                          " be under way at a time, but no more than " + SaySize(underWay) +
                          " are. Most often the sender's own send buffer is fixed (64 KiB in DCMTK "
                          "before 3.6.2 and what is built with it); a line that is slow or loses "
                          "packets looks the same.";
    finding.evidence["RoundTrip"] = roundTrip;
    finding.evidence["Rate"] = GetTransferRate(peer);
    finding.evidence["UnderWay"] = underWay;
    finding.evidence["ReceiveWindow"] = window;
    finding.evidence["Implementation"] = peer.parties.implementationVersion;
    finding.cost =
        EstimateShare(EstimateLostToWindow(peer), evidence.GetTotalOfPeers(Direction::Receive));
    finding.remedy = Remedy::AskPeer(
        "On the peer, don't fix the send buffer (DCMTK from 3.6.2 on: unset TCP_BUFFER_LENGTH; "
        "dcm4che: send buffer 0), or make it larger (older DCMTK: by that variable, in bytes) than "
        "the line's bandwidth times " +
        SayTime(roundTrip) + ".");
    return finding;
  }
}
