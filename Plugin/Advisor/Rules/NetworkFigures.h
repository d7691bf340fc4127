// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Evidence.h"
#include "Advisor/Rule.h"

#include <cstdint>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // What several rules of the network need to know of a peer. Plain functions of the evidence.

  // A path whose round trip is shorter is a local network: windows and round trips don't matter
  constexpr double MINIMUM_ROUND_TRIP = 0.005;

  // Of window / round trip, the rate that shows that the window is the limit: the first round
  // trips of each instance (slow start, RFC 5681 section 3.1) do not fill it
  constexpr double LIMITED_BY_WINDOW = 0.4;

  // Whether the peer has had associations: DicomSockets changes nothing for clients of the HTTP
  // server
  bool IsDicom(const PeerEvidence& peer);

  // Seconds; 0: not known. The smallest one seen, where the kernel tells it: the smoothed one has
  // the peer's delayed acknowledgements in it.
  double GetRoundTrip(const PeerEvidence& peer);

  // Bytes a second while the data of instances was under way; 0: not known. When Orthanc sends,
  // the wait for the response belongs to it: the kernel buffers what was handed to it.
  double GetTransferRate(const PeerEvidence& peer);

  // Whether neither Nagle's algorithm nor delayed acknowledgements are at work on our side, which
  // leaves nothing for the peer's to wait for: a wait is then the peer's own
  bool IsRemedied(const DicomSockets& sockets);

  // The part of the peer's time, pauses included, in which its data was under way
  double GetTransferSeconds(const PeerEvidence& peer);

  // Whether that may in part be time in which Orthanc did not read on, for want of memory
  // (AdmissionQueue): only large messages wait. Which peer's they were is not known.
  bool MayHaveWaitedForMemory(const PeerEvidence& peer, const Evidence& evidence);

  // The setting of the tuning for the buffer that data goes through in this direction, in bytes as
  // given to setsockopt(2); nothing: the kernel chooses
  std::optional<std::uint64_t> GetFixedBuffer(const Tuning& tuning, Direction direction);

  // Its key: "ReceiveBuffer"
  const char* GetBufferKey(Direction direction);

  // "delayed-ack" received, "delayed-ack-sending" sent: a finding has one direction
  std::string GetDirectedId(const char* id, Direction direction);

  // What the transfer could be without this limit: two round trips an instance, one for the
  // request to go and one for the window to open
  double EstimateLostToWindow(const PeerEvidence& peer);

  // What it costs if it is our own buffer. How much would be won can be told of what is received
  // only: of what is sent, the peer's window is the next limit.
  Cost EstimateBufferCost(const PeerEvidence& peer, const Evidence& evidence);
}
