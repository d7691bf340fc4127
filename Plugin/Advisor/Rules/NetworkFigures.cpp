// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/NetworkFigures.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr double ROUND_TRIPS_WITHOUT_LIMIT = 2;
  }


  bool IsDicom(const PeerEvidence& peer)
  {
    return peer.tcp || !peer.parties.callingTitle.empty();  // TLS hides titles
  }


  double GetRoundTrip(const PeerEvidence& peer)
  {
    if (!peer.tcp)
    {
      return 0;
    }

    return ToSeconds(peer.tcp->minimumRoundTrip.value_or(peer.tcp->roundTrip));
  }


  bool IsRemedied(const DicomSockets& sockets)
  {
    return sockets.tcpNoDelay && sockets.tcpQuickAck;
  }


  double GetTransferSeconds(const PeerEvidence& peer)
  {
    const TrafficSums& traffic = peer.traffic;
    return peer.direction == Direction::Receive
               ? traffic.GetSeconds(Phase::Receive)
               : traffic.GetSeconds(Phase::Send) + traffic.GetSeconds(Phase::Wait);
  }


  bool MayHaveWaitedForMemory(const PeerEvidence& peer, const Evidence& evidence)
  {
    const double waited = evidence.memory.waited;
    return peer.traffic.largeInstances > 0 && waited > 0 &&
           waited >= MINIMUM_SHARE * peer.traffic.GetSeconds(Phase::Receive);
  }


  double GetTransferRate(const PeerEvidence& peer)
  {
    const double seconds = GetTransferSeconds(peer);
    return seconds > 0 ? peer.traffic.bytes / seconds : 0;
  }


  std::optional<std::uint64_t> GetFixedBuffer(const Tuning& tuning, Direction direction)
  {
    const DicomSockets& sockets = tuning.dicomSockets;
    const SocketBuffer& buffer =
        direction == Direction::Receive ? sockets.receiveBuffer : sockets.sendBuffer;

    if (buffer.mode != SocketBuffer::Mode::Fixed)
    {
      return std::nullopt;
    }

    return buffer.bytes;
  }


  const char* GetBufferKey(Direction direction)
  {
    return direction == Direction::Receive ? "ReceiveBuffer" : "SendBuffer";
  }


  std::string GetDirectedId(const char* id, Direction direction)
  {
    return direction == Direction::Receive ? id : std::string(id) + "-sending";
  }


  double EstimateLostToWindow(const PeerEvidence& peer)
  {
    const double needed = peer.traffic.instances * ROUND_TRIPS_WITHOUT_LIMIT * GetRoundTrip(peer);
    return std::max(GetTransferSeconds(peer) - needed, 0.0);
  }


  Cost EstimateBufferCost(const PeerEvidence& peer, const Evidence& evidence)
  {
    const double lost = EstimateLostToWindow(peer);
    const TrafficSums& all = evidence.GetTotalOfPeers(peer.direction);
    return peer.direction == Direction::Receive
               ? EstimateCost(lost, peer.traffic.GetSecondsWithPauses(), all)
               : EstimateShare(lost, all);
  }
}
