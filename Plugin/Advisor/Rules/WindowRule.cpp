// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rule.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
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
        const std::uint64_t cap =
            isReceive ? kernel.largestReceiveBuffer : kernel.largestSendBuffer;
        const std::uint64_t buffer = cap == 0 ? *asked : std::min(*asked, cap);
        Judgement judgement({{"Window", static_cast<double>(buffer)}}, {}, "Tuning");
        judgement.document =
            MakeOption("DicomSockets", isReceive ? "ReceiveBuffer" : "SendBuffer", "auto");
        return judgement;
      }

      const std::uint64_t end = kernel.largestAutomaticReceive;
      const double window = peer.tcp ? peer.tcp->receiveWindow.value_or(0) : 0;
      return JudgeIf(isReceive && end != 0 && end < ENOUGH &&
                         window >= WINDOW_AT_ITS_END * static_cast<double>(end),
                     {{"Sysctl", "net.ipv4.tcp_rmem"},
                      {"Limit", static_cast<double>(end)},
                      {"Window", window}},
                     {}, "Kernel", {{"Value", "4096 131072 " + std::to_string(ENOUGH)}});
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

      return JudgeIf(
          underWay <= LARGEST_FIXED_BUFFER && window >= ROOM * underWay &&
              size >= ROOM * underWay &&
              GetTransferSeconds(peer) >= MINIMUM_TRANSFER * traffic.GetSecondsWithPauses(),
          {{"RoundTrip", roundTrip},
           {"Rate", rate},
           {"UnderWay", underWay},
           {"ReceiveWindow", window},
           {"Implementation", peer.parties.implementationVersion}},
          EstimatePeerShare(EstimateLostToWindow(peer), peer, evidence), "PeerSendBuffer");
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
  }

  Rule MakeWindowRule()
  {
    return {"window", Scope::BothWays, &JudgeWindow};
  }
}
