// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // A path whose round trip is shorter is a local network: windows and round trips don't matter
    constexpr double MINIMUM_ROUND_TRIP = 0.005;

    // Whether the peer has had associations: DicomSockets changes nothing for clients of the HTTP
    // server
    bool IsDicom(const PeerEvidence& peer)
    {
      return peer.tcp || !peer.parties.callingTitle.empty();  // TLS hides titles
    }


    // Seconds; 0: not known. The smallest one seen, where the kernel tells it: the smoothed one has
    // the peer's delayed acknowledgements in it.
    double GetRoundTrip(const PeerEvidence& peer)
    {
      return peer.tcp ? ToSeconds(peer.tcp->minimumRoundTrip.value_or(peer.tcp->roundTrip)) : 0;
    }


    // Whether neither Nagle's algorithm nor delayed acknowledgements are at work on our side, which
    // leaves nothing for the peer's to wait for: a wait is then the peer's own
    bool IsRemedied(const Evidence& evidence)
    {
      return evidence.tuning.dicomSockets.tcpNoDelay && evidence.tuning.dicomSockets.tcpQuickAck;
    }


    Cost EstimatePeerShare(double lost, const PeerEvidence& peer, const Evidence& evidence)
    {
      return EstimateShare(lost, evidence.GetTotalOfPeers(peer.direction));
    }


    // ---- delayed-ack -------------------------------------------------------------------------

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


    bool IsIn(const Signature& signature, double wait)
    {
      return wait >= signature.atLeast && wait < signature.atMost;
    }


    // Over a distant path a wait may be a round trip and no stall: that much is left out
    const Signature* FindSignature(double mean, double roundTrip, bool isTuned)
    {
      const bool isDistant = roundTrip >= MINIMUM_ROUND_TRIP;

      if (isTuned)
      {
        return !isDistant && IsIn(LINUX_ALONE, mean) ? &LINUX_ALONE : nullptr;
      }

      const double wait = isDistant ? mean - roundTrip : mean;
      return IsIn(LINUX, wait) ? &LINUX : IsIn(OTHERS, wait) ? &OTHERS : nullptr;
    }


    std::optional<Judgement> JudgeDelayedAck(const PeerEvidence& peer, const Evidence& evidence)
    {
      const TrafficBucket& traffic = peer.traffic;
      const double count = traffic.stalls;
      const double seconds = traffic.stallSeconds;
      const double mean = count > 0 ? seconds / count : 0;
      const double total = traffic.GetSecondsWithPauses();
      const bool isTuned = IsRemedied(evidence);
      const Signature* const signature = FindSignature(mean, GetRoundTrip(peer), isTuned);

      if (!IsDicom(peer) || traffic.instances < MINIMUM_INSTANCES || count < MINIMUM_STALLS ||
          count < MINIMUM_STALLS_PER_INSTANCE * traffic.instances || signature == nullptr ||
          seconds < MINIMUM_SHARE * total)
      {
        return std::nullopt;
      }

      Judgement judgement({{"StallsPerInstance", count / traffic.instances},
                           {"MeanStall", mean},
                           {"StallShare", std::min(seconds / total, 1.0)}},
                          EstimateCost(seconds, total, evidence.GetTotalOfPeers(peer.direction)),
                          isTuned ? "tuned" : "");
      judgement.words["System"] = signature->system;
      judgement.words["Timer"] = signature->timer;
      return judgement;
    }


    // ---- window ------------------------------------------------------------------------------
    //
    // A connection can have one window of data under way, and the answer takes a round trip: its
    // rate is window / round trip at the most. The first of these limits that shows is the finding:
    //
    //   SetBy               what sets the limit          how it is seen
    //   Tuning              the plugin's tuning          rate at buffer / round trip
    //   Kernel              a sysctl of this machine     rate at what it allows / round trip
    //   PeerReceiveBuffer   the peer, of what is sent    TCP_INFO, also over a short way
    //   PeerSendBuffer      the peer, as it sends        rate far below our window / round trip

    // Of window / round trip, the rate that shows that the window is the limit: the first round
    // trips of each instance (slow start, RFC 5681 section 3.1) do not fill it
    constexpr double LIMITED_BY_WINDOW = 0.4;


    // The part of the peer's time, pauses included, in which its data was under way. When Orthanc
    // sends, the wait for the response belongs to it: the kernel buffers what was handed to it.
    double GetTransferSeconds(const PeerEvidence& peer)
    {
      const TrafficBucket& traffic = peer.traffic;
      return peer.direction == Direction::Receive
                 ? traffic.GetSeconds(Phase::Receive)
                 : traffic.GetSeconds(Phase::Send) + traffic.GetSeconds(Phase::Wait);
    }


    // Bytes a second while the data of instances was under way; 0: not known
    double GetTransferRate(const PeerEvidence& peer)
    {
      const double seconds = GetTransferSeconds(peer);
      return seconds > 0 ? peer.traffic.bytes / seconds : 0;
    }


    // What the transfer could be without this limit: two round trips an instance, one for the
    // request to go and one for the window to open
    double EstimateLostToWindow(const PeerEvidence& peer)
    {
      constexpr double ROUND_TRIPS_WITHOUT_LIMIT = 2;
      const double needed = peer.traffic.instances * ROUND_TRIPS_WITHOUT_LIMIT * GetRoundTrip(peer);
      return std::max(GetTransferSeconds(peer) - needed, 0.0);
    }


    // The setting of the tuning for the buffer that data goes through in this direction, in bytes
    // as given to setsockopt(2); nothing: the kernel chooses
    std::optional<std::uint64_t> GetFixedBuffer(const PeerEvidence& peer, const Evidence& evidence)
    {
      const DicomSockets& sockets = evidence.tuning.dicomSockets;
      const SocketBuffer& buffer =
          peer.direction == Direction::Receive ? sockets.receiveBuffer : sockets.sendBuffer;
      return buffer.mode == SocketBuffer::Mode::Fixed ? std::optional<std::uint64_t>(buffer.bytes)
                                                      : std::nullopt;
    }


    Judgement MakeKernelLimit(const char* sysctl, const std::string& value, std::uint64_t bytes,
                              double window)
    {
      Judgement judgement(
          {{"Sysctl", sysctl}, {"Limit", static_cast<double>(bytes)}, {"Window", window}}, {},
          "Kernel");
      judgement.words["Value"] = value;  // to be set
      return judgement;
    }


    // Of the kernel's largest buffer, the window that shows that autotuning has come to its end:
    // half of it is the kernel's own overhead (tcp(7), tcp_adv_win_scale)
    constexpr double WINDOW_AT_ITS_END = 0.4;

    // What a limit should be raised to: enough for 1 Gb/s over 250 ms
    constexpr std::uint64_t ENOUGH = 32ULL * 1024 * 1024;


    // What limits the window on this machine, and "Window", what is left of it for data. The kernel
    // doubles a fixed buffer, for its own overhead: about the size asked for is left (socket(7),
    // SO_RCVBUF). Autotuning's end is known of what is received: of what is sent, only the peer's
    // window is.
    std::optional<Judgement> FindOwnLimit(const PeerEvidence& peer, const Evidence& evidence)
    {
      const KernelLimits& kernel = evidence.facts.kernel;
      const bool isReceive = peer.direction == Direction::Receive;

      if (const std::optional<std::uint64_t> asked = GetFixedBuffer(peer, evidence))
      {
        const std::uint64_t allowed =
            isReceive ? kernel.largestReceiveBuffer : kernel.largestSendBuffer;

        if (allowed != 0 && *asked > allowed)
        {
          return MakeKernelLimit(isReceive ? "net.core.rmem_max" : "net.core.wmem_max",
                                 std::to_string(*asked), allowed, static_cast<double>(allowed));
        }

        Judgement judgement({{"Window", static_cast<double>(*asked)}}, {}, "Tuning");
        judgement.document =
            MakeOption("DicomSockets", isReceive ? "ReceiveBuffer" : "SendBuffer", "auto");
        return judgement;
      }

      const std::uint64_t end = kernel.largestAutomaticReceive;
      const double window = peer.tcp ? peer.tcp->receiveWindow.value_or(0) : 0;
      return !isReceive || end == 0 || end >= ENOUGH ||
                     window < WINDOW_AT_ITS_END * static_cast<double>(end)
                 ? std::nullopt
                 : std::optional<Judgement>(MakeKernelLimit(
                       "net.ipv4.tcp_rmem", "4096 131072 " + std::to_string(ENOUGH), end, window));
    }


    // How much would be won can be told of what is received only: of what is sent, the peer's
    // window is the next limit
    std::optional<Judgement> JudgeOwnWindow(const PeerEvidence& peer, const Evidence& evidence)
    {
      std::optional<Judgement> judgement = FindOwnLimit(peer, evidence);
      const double roundTrip = GetRoundTrip(peer);

      if (!judgement || roundTrip < MINIMUM_ROUND_TRIP)
      {
        return std::nullopt;
      }

      const double limit = judgement->figures["Window"].asDouble() / roundTrip;  // bytes a second
      const double rate = GetTransferRate(peer);
      const double lost = EstimateLostToWindow(peer);
      const double total = peer.traffic.GetSecondsWithPauses();

      if (rate < LIMITED_BY_WINDOW * limit || lost < MINIMUM_SHARE * total)
      {
        return std::nullopt;
      }

      const TrafficBucket& all = evidence.GetTotalOfPeers(peer.direction);
      judgement->figures["RoundTrip"] = roundTrip;
      judgement->figures["WindowLimit"] = limit;
      judgement->figures["Rate"] = rate;
      judgement->cost = peer.direction == Direction::Receive ? EstimateCost(lost, total, all)
                                                             : EstimateShare(lost, all);
      return judgement;
    }


    // Seconds with data to send, below which the kernel's figures say nothing
    constexpr double MINIMUM_BUSY = 0.5;

    // Of that time, what the peer's window must have taken
    constexpr double MINIMUM_LIMITED = 0.3;

    // The same where the data under way fills the window: congestion control that paces (BBR) has
    // learnt the window's rate then, and seldom meets its edge
    constexpr double MINIMUM_LIMITED_IF_FULL = 0.1;


    std::optional<Judgement> JudgePeerReceiveBuffer(const PeerEvidence& peer,
                                                    const Evidence& evidence)
    {
      if (!peer.tcp || !peer.tcp->busy || !peer.tcp->receiveWindowLimited)
      {
        return std::nullopt;
      }

      const double busy = ToSeconds(*peer.tcp->busy);
      const double limited = ToSeconds(*peer.tcp->receiveWindowLimited);
      const double roundTrip = GetRoundTrip(peer);
      const double limit =
          roundTrip >= MINIMUM_ROUND_TRIP ? peer.tcp->sendWindow.value_or(0) / roundTrip : 0;
      const double rate = GetTransferRate(peer);
      const bool isFull = limit > 0 && rate >= LIMITED_BY_WINDOW * limit;

      if (busy < MINIMUM_BUSY ||
          limited < (isFull ? MINIMUM_LIMITED_IF_FULL : MINIMUM_LIMITED) * busy)
      {
        return std::nullopt;
      }

      const double lost =
          isFull ? EstimateLostToWindow(peer) : GetTransferSeconds(peer) * limited / busy;
      Judgement judgement({{"Busy", busy}, {"WindowLimited", limited}, {"RoundTrip", roundTrip}},
                          EstimatePeerShare(lost, peer, evidence), "PeerReceiveBuffer");
      judgement.words["LimitedShare"] = limited / busy;

      if (peer.tcp->sendWindow)
      {
        judgement.figures["PeerWindow"] = *peer.tcp->sendWindow;
      }

      if (isFull)
      {
        judgement.figures["WindowLimit"] = limit;  // bytes a second
        judgement.figures["Rate"] = rate;
      }

      return judgement;
    }


    // The sizes that toolkits fix are up to 128 KiB (DCMTK before 3.6.2: 64 KiB, in dul.cc and
    // dulfsm.cc)
    constexpr double LARGEST_FIXED_BUFFER = 160 * 1024;

    // How much more than what is under way the window, and an instance, must have room for: else
    // they might be the limit themselves
    constexpr double ROOM = 3;

    // Of the peer's time, in which its data was under way
    constexpr double MINIMUM_TRANSFER = 0.5;


    // Whether that time may in part be one in which Orthanc did not read on, for want of memory
    // (AdmissionQueue): only large messages wait. Which peer's they were is not known.
    bool MayHaveWaitedForMemory(const PeerEvidence& peer, const Evidence& evidence)
    {
      const double waited = evidence.memory.waited;
      return peer.traffic.largeInstances > 0 && waited > 0 &&
             waited >= MINIMUM_SHARE * peer.traffic.GetSeconds(Phase::Receive);
    }


    std::optional<Judgement> JudgePeerSendBuffer(const PeerEvidence& peer, const Evidence& evidence)
    {
      const TrafficBucket& traffic = peer.traffic;
      const double roundTrip = GetRoundTrip(peer);

      if (roundTrip < MINIMUM_ROUND_TRIP || !peer.tcp->receiveWindow ||
          MayHaveWaitedForMemory(peer, evidence))
      {
        return std::nullopt;
      }

      const double rate = GetTransferRate(peer);
      const double underWay = rate * roundTrip;
      const double window = *peer.tcp->receiveWindow;
      const double size = traffic.bytes / traffic.instances;

      if (underWay > LARGEST_FIXED_BUFFER || window < ROOM * underWay || size < ROOM * underWay ||
          GetTransferSeconds(peer) < MINIMUM_TRANSFER * traffic.GetSecondsWithPauses())
      {
        return std::nullopt;
      }

      return Judgement({{"RoundTrip", roundTrip},
                        {"Rate", rate},
                        {"UnderWay", underWay},
                        {"ReceiveWindow", window},
                        {"Implementation", peer.parties.implementationVersion}},
                       EstimatePeerShare(EstimateLostToWindow(peer), peer, evidence),
                       "PeerSendBuffer");
    }


    std::optional<Judgement> JudgeWindow(const PeerEvidence& peer, const Evidence& evidence)
    {
      if (peer.traffic.instances < MINIMUM_INSTANCES)
      {
        return std::nullopt;
      }

      std::optional<Judgement> judgement = JudgeOwnWindow(peer, evidence);

      if (!judgement)
      {
        judgement = peer.direction == Direction::Receive ? JudgePeerSendBuffer(peer, evidence)
                                                         : JudgePeerReceiveBuffer(peer, evidence);
      }

      if (judgement)
      {
        judgement->figures["SetBy"] = judgement->variant;
      }

      return judgement;
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

      if (traffic.instances < MINIMUM_INSTANCES || evidence.load.waiting >= MAXIMUM_WAITING ||
          idle < MINIMUM_PAUSE * traffic.instances || idle < MINIMUM_PEER_SHARE * total)
      {
        return std::nullopt;
      }

      return Judgement({{"MeanPause", idle / traffic.instances},
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

      if (traffic.instances < MINIMUM_INSTANCES || waiting < MINIMUM_WAIT * traffic.instances ||
          waiting < MINIMUM_PEER_SHARE * total)
      {
        return std::nullopt;
      }

      return Judgement({{"MeanWait", waiting / traffic.instances}, {"WaitShare", waiting / total}},
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


    std::optional<Judgement> JudgeAssociationSetup(const PeerEvidence& peer,
                                                   const Evidence& evidence)
    {
      const std::size_t count = peer.setups.size();
      const double setup = count < MINIMUM_ASSOCIATIONS ? 0 : GetMedian(peer.setups);

      if (setup - 2 * GetRoundTrip(peer) < MINIMUM_SETUP)
      {
        return std::nullopt;
      }

      const bool isPoll = setup >= POLL_AT_LEAST && setup <= POLL_AT_MOST;
      return Judgement({{"MedianSetupTime", setup},
                        {"Associations", static_cast<Json::UInt64>(count)},
                        {"RoundTrip", GetRoundTrip(peer)}},
                       EstimatePeerShare(setup * static_cast<double>(count), peer, evidence),
                       peer.direction == Direction::Receive ? ""
                       : isPoll                             ? "movescu"
                                                            : "sending");
    }


    // ---- failed-associations -----------------------------------------------------------------

    constexpr std::uint64_t MINIMUM_FAILURES = 3;


    // There is nothing to gain: no instance is slower for it
    std::optional<Judgement> JudgeFailedAssociations(const PeerEvidence& peer,
                                                     const Evidence& /*evidence*/)
    {
      const FailedAssociations& failed = peer.failed;

      if (failed.count < MINIMUM_FAILURES)
      {
        return std::nullopt;
      }

      const char* const outcome = ToLabel(failed.outcome);
      Judgement judgement(
          {{"Failures", static_cast<Json::UInt64>(failed.count)}, {"Outcome", outcome}}, {},
          outcome);

      if (!failed.rejection.empty())
      {
        judgement.figures["Rejection"] = failed.rejection;
      }

      return judgement;
    }
  }


  std::vector<Rule> MakeNetworkRules()
  {
    return {
        {"delayed-ack", Scope::BothWays, &JudgeDelayedAck},
        {"window", Scope::BothWays, &JudgeWindow},
        {"sender-bottleneck", Scope::Received, &JudgeSender},
        {"receiver-bottleneck", Scope::Sent, &JudgeReceiver},
        {"slow-association", Scope::BothWays, &JudgeAssociationSetup},
        {"failed-associations", Scope::Sent, &JudgeFailedAssociations},
    };
  }
}
