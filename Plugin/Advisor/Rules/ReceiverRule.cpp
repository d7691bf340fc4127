// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/NetworkFigures.h"
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    // What a receiver may take for an image without a remark: report 002's slowest receivers on a
    // local network take less
    constexpr double MINIMUM_WAIT = 0.050;

    constexpr double MINIMUM_WAIT_SHARE = 0.5;
  }


  std::optional<Finding> JudgeReceiver(const PeerEvidence& peer, const Evidence& evidence)
  {
    const TrafficSums& traffic = peer.traffic;

    if (peer.direction != Direction::Send || traffic.instances < MINIMUM_INSTANCES)
    {
      return std::nullopt;
    }

    const double waiting = traffic.GetSeconds(Phase::Wait) - traffic.stallSeconds -
                           traffic.instances * GetRoundTrip(peer);
    const double mean = waiting / traffic.instances;

    if (mean < MINIMUM_WAIT || waiting < MINIMUM_WAIT_SHARE * traffic.GetSecondsWithPauses())
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "receiver-bottleneck";
    finding.title = "The receiver takes " + SayTime(mean) + " to answer for an image";
    finding.explanation = "Orthanc has sent the image and waits for the response: the time goes by "
                          "on the receiver, which stores the image before it answers.";
    finding.evidence["MeanWait"] = mean;
    finding.evidence["WaitShare"] = waiting / traffic.GetSecondsWithPauses();
    finding.cost = EstimateShare(waiting, evidence.GetTotalOfPeers(Direction::Send));
    finding.remedy = Remedy::AskPeer(
        "Look at the receiver's storage and database, or send over several associations at once "
        "(several jobs; \"ConcurrentJobs\" of Orthanc's configuration).");
    return finding;
  }
}
