// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rule.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // Whether the peer has had associations: DicomSockets changes nothing for clients of the HTTP
    // server
    bool IsDicom(const PeerEvidence& peer)
    {
      return peer.tcp || !peer.parties.callingTitle.empty();  // TLS hides titles
    }

    // Whether neither Nagle's algorithm nor delayed acknowledgements are at work on our side, which
    // leaves nothing for the peer's to wait for: a wait is then the peer's own
    bool IsRemedied(const Evidence& evidence)
    {
      return evidence.tuning.dicomSockets.tcpNoDelay && evidence.tuning.dicomSockets.tcpQuickAck;
    }

    constexpr double MINIMUM_STALLS = 10;

    // A protocol stalls in every message or every other one, a busy machine now and then
    constexpr double MINIMUM_STALLS_PER_INSTANCE = 0.2;

    // How long a system holds an acknowledgement back, and which waits show it; in seconds
    struct Signature
    {
      double atLeast;
      double atMost;
      const char* system;
      double timer;
    };

    // Linux: 40 ms (TCP_DELACK_MIN in include/net/tcp.h, HZ / 25), and some for two sides in a row.
    // Windows: 200 ms (registry TcpDelAckTicks, two ticks of 100 ms).
    constexpr Signature LINUX = {0.025, 0.090, "Linux", 0.040};
    constexpr Signature OTHERS = {0.150, 0.300, "Windows", 0.200};

    // Where Orthanc's side is tuned, a pause of the peer's own is likelier than a timer, but for
    // one that takes just as long as the timer.
    constexpr Signature LINUX_ALONE = {0.036, 0.055, "Linux", 0.040};
    constexpr Signature NO_SIGNATURE = {0, 0, "", 0};

    bool IsIn(const Signature& signature, double wait)
    {
      return wait >= signature.atLeast && wait < signature.atMost;
    }

    // Over a distant path a wait may be a round trip and no stall: that much is left out
    Signature FindSignature(double mean, double roundTrip, bool isTuned)
    {
      const bool isDistant = roundTrip >= MINIMUM_ROUND_TRIP;

      if (isTuned)
      {
        return !isDistant && IsIn(LINUX_ALONE, mean) ? LINUX_ALONE : NO_SIGNATURE;
      }

      const double wait = isDistant ? mean - roundTrip : mean;
      return IsIn(LINUX, wait) ? LINUX : IsIn(OTHERS, wait) ? OTHERS : NO_SIGNATURE;
    }

    std::optional<Judgement> JudgeDelayedAck(const PeerEvidence& peer, const Evidence& evidence)
    {
      const TrafficBucket& traffic = peer.traffic;
      const double count = traffic.stalls;
      const double seconds = traffic.stallSeconds;
      const double mean = count > 0 ? seconds / count : 0;
      const double total = traffic.GetSecondsWithPauses();
      const bool isTuned = IsRemedied(evidence);
      const Signature signature = FindSignature(mean, GetRoundTrip(peer), isTuned);

      return JudgeIf(
          IsDicom(peer) && traffic.instances >= MINIMUM_INSTANCES && count >= MINIMUM_STALLS &&
              count >= MINIMUM_STALLS_PER_INSTANCE * traffic.instances && signature.timer > 0 &&
              seconds >= MINIMUM_SHARE * total,
          {{"StallsPerInstance", count / traffic.instances},
           {"MeanStall", mean},
           {"StallShare", std::min(seconds / total, 1.0)}},
          EstimateCost(seconds, total, evidence.GetTotalOfPeers(peer.direction)),
          isTuned ? "tuned" : "", {{"System", signature.system}, {"Timer", signature.timer}});
    }

    // ---- The peer itself ---------------------------------------------------------------------

    // A sender's pause between two images that is worth a remark. Report 002 found 50 ms; reading
    // and encoding an image takes some milliseconds.
    constexpr double MINIMUM_PAUSE = 0.020;

    // What a receiver may take for an image without a remark: report 002's slowest receivers on a
    // local network take less
    constexpr double MINIMUM_WAIT = 0.050;

    // Of the association's time, what is the peer's
    constexpr double MINIMUM_PEER_SHARE = 0.5;

    // Associations that wait for a thread of Orthanc's make pauses that are not the sender's
    constexpr double MAXIMUM_WAITING = 0.5;

    std::optional<Judgement> JudgeSender(const PeerEvidence& peer, const Evidence& evidence)
    {
      const TrafficBucket& traffic = peer.traffic;
      const double total = traffic.GetSecondsWithPauses();

      // A stall may lie in the pause, and a round trip always does
      const double stalled = IsRemedied(evidence) ? 0 : traffic.stallSeconds;
      const double idle = traffic.pauseSeconds - stalled - traffic.instances * GetRoundTrip(peer);

      return JudgeIf(
          traffic.instances >= MINIMUM_INSTANCES && evidence.load.waiting < MAXIMUM_WAITING &&
              idle >= MINIMUM_PAUSE * traffic.instances && idle >= MINIMUM_PEER_SHARE * total,
          {{"MeanPause", idle / traffic.instances},
           {"PauseShare", idle / total},
           {"MeanDuration", traffic.GetTotalSeconds() / traffic.instances}},
          EstimatePeerShare(idle, peer, evidence));
    }

    std::optional<Judgement> JudgeReceiver(const PeerEvidence& peer, const Evidence& evidence)
    {
      const TrafficBucket& traffic = peer.traffic;
      const double total = traffic.GetSecondsWithPauses();
      const double waiting = traffic.GetSeconds(Phase::Wait) - traffic.stallSeconds -
                             traffic.instances * GetRoundTrip(peer);

      return JudgeIf(traffic.instances >= MINIMUM_INSTANCES &&
                         waiting >= MINIMUM_WAIT * traffic.instances &&
                         waiting >= MINIMUM_PEER_SHARE * total,
                     {{"MeanWait", waiting / traffic.instances}, {"WaitShare", waiting / total}},
                     EstimatePeerShare(waiting, peer, evidence));
    }

    constexpr std::size_t MINIMUM_ASSOCIATIONS = 3;

    // An association takes two round trips and some milliseconds; what is far beyond that is a
    // timer or a look-up
    constexpr double MINIMUM_SETUP = 0.250;

    // DCMTK's movescu looks at its two associations in turns of a second each (dimmove.cc; report
    // 001)
    constexpr double POLL_AT_LEAST = 0.8;
    constexpr double POLL_AT_MOST = 1.3;

    double GetMedian(std::vector<Duration> durations)
    {
      const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
      std::nth_element(durations.begin(), middle, durations.end());
      return ToSeconds(*middle);
    }

    // A received instance's time holds no setup, so its peer's costs nothing of it
    std::optional<Judgement> JudgeAssociationSetup(const PeerEvidence& peer,
                                                   const Evidence& evidence)
    {
      const double lost =
          peer.traffic.GetSeconds(Phase::Connect) + peer.traffic.GetSeconds(Phase::Associate);
      const std::size_t count = peer.setups.size();
      const double setup = count < MINIMUM_ASSOCIATIONS ? 0 : GetMedian(peer.setups);
      const bool isPoll = setup >= POLL_AT_LEAST && setup <= POLL_AT_MOST;
      return JudgeIf(setup - 2 * GetRoundTrip(peer) >= MINIMUM_SETUP,
                     {{"MedianSetupTime", setup},
                      {"Associations", static_cast<Json::UInt64>(count)},
                      {"RoundTrip", GetRoundTrip(peer)}},
                     EstimatePeerShare(lost, peer, evidence),
                     peer.direction == Direction::Receive ? ""
                     : isPoll                             ? "movescu"
                                                          : "sending");
    }

    constexpr std::uint64_t MINIMUM_FAILURES = 3;

    // There is nothing to gain: no instance is slower for it
    std::optional<Judgement> JudgeFailedAssociations(const PeerEvidence& peer,
                                                     const Evidence& /*evidence*/)
    {
      const FailedAssociations& failed = peer.failed;
      const char* const outcome = ToLabel(failed.outcome);
      std::optional<Judgement> judgement =
          JudgeIf(failed.count >= MINIMUM_FAILURES,
                  {{"Failures", static_cast<Json::UInt64>(failed.count)}, {"Outcome", outcome}}, {},
                  outcome);

      if (judgement && !failed.rejection.empty())
      {
        judgement->figures["Rejection"] = failed.rejection;
      }

      return judgement;
    }
  }

  std::vector<Rule> MakeNetworkRules()
  {
    return {
        {"delayed-ack", Scope::BothWays, &JudgeDelayedAck},
        {"sender-bottleneck", Scope::Received, &JudgeSender},
        {"receiver-bottleneck", Scope::Sent, &JudgeReceiver},
        {"slow-association", Scope::BothWays, &JudgeAssociationSetup},
        {"failed-associations", Scope::Sent, &JudgeFailedAssociations},
    };
  }
}
