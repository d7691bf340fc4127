// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/NetworkFigures.h"
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    // Time with data to send, below which the kernel's figures say nothing
    constexpr double MINIMUM_BUSY = 0.5;

    // Of that time, what the peer's window must have taken
    constexpr double MINIMUM_LIMITED = 0.3;

    // The same where the data under way fills the window: congestion control that paces (BBR) has
    // learnt the window's rate then, and seldom meets its edge
    constexpr double MINIMUM_LIMITED_IF_FULL = 0.1;


    // Bytes a second; 0: the window is not known, or does not matter
    double GetWindowLimit(const PeerEvidence& peer)
    {
      const double roundTrip = GetRoundTrip(peer);
      return roundTrip >= MINIMUM_ROUND_TRIP ? peer.tcp->sendWindow.value_or(0) / roundTrip : 0;
    }
  }


  std::optional<Finding> JudgePeerWindow(const PeerEvidence& peer, const Evidence& evidence)
  {
    const TrafficSums& traffic = peer.traffic;

    if (peer.direction != Direction::Send || traffic.instances < MINIMUM_INSTANCES || !peer.tcp ||
        !peer.tcp->busy || !peer.tcp->receiveWindowLimited)
    {
      return std::nullopt;
    }

    const double busy = ToSeconds(*peer.tcp->busy);
    const double limited = ToSeconds(*peer.tcp->receiveWindowLimited);
    const double limit = GetWindowLimit(peer);
    const double rate = GetTransferRate(peer);
    const bool isFull = limit > 0 && rate >= LIMITED_BY_WINDOW * limit;

    if (busy < MINIMUM_BUSY ||
        limited < (isFull ? MINIMUM_LIMITED_IF_FULL : MINIMUM_LIMITED) * busy)
    {
      return std::nullopt;
    }

    const double lost =
        isFull ? EstimateLostToWindow(peer) : GetTransferSeconds(peer) * limited / busy;

    Finding finding;
    finding.id = "peer-window";
    finding.title = "The peer's receive window holds back what Orthanc sends";
    finding.explanation =
        "The kernel says that for " + SayShare(limited / busy) +
        " of the time in which there was data to send, the peer's window was full: the peer reads "
        "too slowly, or its receive buffer is too small for the distance.";
    finding.evidence["Busy"] = busy;
    finding.evidence["WindowLimited"] = limited;
    finding.evidence["RoundTrip"] = GetRoundTrip(peer);

    if (peer.tcp->sendWindow)
    {
      finding.evidence["PeerWindow"] = *peer.tcp->sendWindow;
    }

    if (isFull)
    {
      finding.evidence["WindowLimit"] = limit;  // bytes a second
      finding.evidence["Rate"] = rate;
    }

    finding.cost = EstimateShare(lost, evidence.GetTotalOfPeers(Direction::Send));
    finding.remedy = Remedy::AskPeer(
        "On the peer, don't fix the receive buffer (DCMTK from 3.6.2 on: unset TCP_BUFFER_LENGTH, "
        "before that it is to be set, in bytes; dcm4che: receive buffer 0), or find out why it "
        "reads slowly.");
    return finding;
  }
}
