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


    class PeerWindowRule : public PeerRule
    {
    protected:
      std::optional<Finding> JudgePeer(const PeerEvidence& peer,
                                       const Evidence& evidence) const override
      {
        const TrafficSums& traffic = peer.traffic;

        if (peer.direction != Direction::Send || traffic.instances < MINIMUM_INSTANCES ||
            !peer.tcp || !peer.tcp->busy || !peer.tcp->receiveWindowLimited)
        {
          return std::nullopt;
        }

        const double busy = ToSeconds(*peer.tcp->busy);
        const double limited = ToSeconds(*peer.tcp->receiveWindowLimited);

        if (busy < MINIMUM_BUSY || limited < MINIMUM_LIMITED * busy)
        {
          return std::nullopt;
        }

        const double lost = GetTransferSeconds(peer) * limited / busy;

        Finding finding;
        finding.id = "peer-window";
        finding.title = "The peer's receive window holds back what Orthanc sends";
        finding.explanation =
            "The kernel says that for " + SayShare(limited / busy) +
            " of the time in which there was data to send, the peer's window was full: the peer "
            "reads too slowly, or its receive buffer is too small for the distance.";
        finding.evidence["Busy"] = busy;
        finding.evidence["WindowLimited"] = limited;
        finding.evidence["RoundTrip"] = GetRoundTrip(peer);

        if (peer.tcp->sendWindow)
        {
          finding.evidence["PeerWindow"] = *peer.tcp->sendWindow;
        }

        finding.cost = EstimateShare(lost, evidence.GetTotal(Direction::Send));
        finding.remedy = Remedy::AskPeer(
            "On the peer, don't fix the receive buffer (DCMTK: unset TCP_BUFFER_LENGTH; dcm4che: "
            "receive buffer 0), or find out why it reads slowly.");
        return finding;
      }
    };
  }


  std::unique_ptr<IRule> MakePeerWindowRule()
  {
    return std::make_unique<PeerWindowRule>();
  }
}
