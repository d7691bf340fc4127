// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/NetworkFigures.h"
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    // A sender's pause between two images that is worth a remark. Report 002 found 50 ms; reading
    // and encoding an image takes some milliseconds.
    constexpr double MINIMUM_PAUSE = 0.020;

    // Of the association's time
    constexpr double MINIMUM_PAUSE_SHARE = 0.5;

    // Associations that wait for a thread of Orthanc's make pauses that are not the sender's
    constexpr double MAXIMUM_WAITING = 0.5;
  }


  std::optional<Finding> JudgeSender(const PeerEvidence& peer, const Evidence& evidence)
  {
    const TrafficSums& traffic = peer.traffic;

    if (peer.direction != Direction::Receive || traffic.instances < MINIMUM_INSTANCES ||
        evidence.load.waiting >= MAXIMUM_WAITING)
    {
      return std::nullopt;
    }

    // A stall may lie in the pause, and a round trip always does
    const double stalled = IsRemedied(evidence.tuning.dicomSockets) ? 0 : traffic.stallSeconds;
    const double idle =
        traffic.GetSeconds(Phase::Idle) - stalled - traffic.instances * GetRoundTrip(peer);
    const double pause = idle / traffic.instances;

    if (pause < MINIMUM_PAUSE || idle < MINIMUM_PAUSE_SHARE * traffic.GetSecondsWithPauses())
    {
      return std::nullopt;
    }

    const double own = traffic.GetTotalSeconds() / traffic.instances;

    Finding finding;
    finding.id = "sender-bottleneck";
    finding.title = "The sender pauses for " + SayTime(pause) + " between two images";
    finding.explanation =
        "Orthanc has answered and waits for the next image: the time goes by on the sender, which "
        "reads, converts or waits for something. Orthanc itself takes " +
        SayTime(own) +
        " for an image of this peer; nothing that is changed here makes the transfer much faster.";
    finding.evidence["MeanPause"] = pause;
    finding.evidence["PauseShare"] = idle / traffic.GetSecondsWithPauses();
    finding.evidence["MeanDuration"] = own;
    finding.cost = EstimateShare(idle, evidence.GetTotalOfPeers(Direction::Receive));
    finding.remedy = Remedy::AskPeer(
        "Let the sender use several associations at once, or find out what it does between two "
        "images (slow disk, transcoding, a log line or a database update for each image).");
    return finding;
  }
}
