// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/Messages/AssociateRequest.h"
#include "Network/Messages/PduFramer.h"
#include "Network/Sockets/PeerAddress.h"
#include "Network/Sockets/SocketTuning.h"

#include "Ingest/Association.h"
#include "Ingest/Clock.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

namespace OrthancPerf
{
  enum class ConnectionKind : std::uint8_t
  {
    None,           // not watched
    DicomAccepted,  // Orthanc is the server
    DicomOutgoing,  // Orthanc is the client
    HttpAccepted,
    OutgoingCandidate  // connected by Orthanc, nothing written yet: DICOM or not
  };

  constexpr bool IsDicom(ConnectionKind kind) noexcept
  {
    return kind == ConnectionKind::DicomAccepted || kind == ConnectionKind::DicomOutgoing;
  }

  // Where a connection is between a request and its response
  enum class ExchangeState : std::uint8_t
  {
    Quiet,    // nothing, or a whole exchange, has gone by
    Request,  // bytes of a request have gone by
    Response  // bytes of its response have gone by
  };

  // What the kernel counts where the network loses segments of a connection, or lets one overtake
  // another: of TcpSummary
  struct LossSigns
  {
    std::uint32_t retransmits = 0;  // of what Orthanc sends
    std::uint32_t outOfOrder = 0;   // of what it receives
  };

  // How far a connection is, for the thread that has it
  struct ConnectionProgress
  {
    static constexpr std::uint64_t NEVER = std::numeric_limits<std::uint64_t>::max();

    ExchangeState state = ExchangeState::Quiet;
    bool isAnswered = false;                             // the association: accepted or rejected
    bool isPeerGone = false;                             // nothing more will come
    bool isBrokenOff = false;                            // by Orthanc, inside a request,
    bool isRefused = false;                              // and not as it waited for more in vain
    bool isNoDelayAsked = false;                         // by Orthanc itself: TCP_NODELAY
    CongestionControlName formerCongestionControl = {};  // before the plugin set another one
    TimePoint readAt;                                    // the latest byte
    bool isServed = false;                 // the request under way, by Orthanc: not refused
    bool isCommandOpen = false;            // what Orthanc writes of it is to go on in the next PDU
    bool isCommandBegun = false;           // by the bytes that Orthanc writes now
    std::optional<TimePoint> restSince;    // what may be the body of a refused request
    Duration waited = Duration::zero();    // for the next byte to read, so far
    Duration heldBack = Duration::zero();  // of it, while the kernel held back what was written
    std::optional<TimePoint> heldBackSince;
    LossSigns lossSigns;             // as this wait began,
    LossSigns earlierLossSigns;      // and as the one before it did
    bool isLossSeen = false;         // when it was over: the network has lost what it was for
    std::uint64_t requestBytes = 0;  // of the request under way, so far
    std::uint64_t askAt = NEVER;     // with so many of them, AdmissionQueue is asked
    bool isCounted = false;          // by AdmissionQueue, which was asked
    AssociationOutcome outcome = AssociationOutcome::Incomplete;
    AssociateRequestParser associateRequest;
    PduFramer readFramer;
    PduFramer writeFramer;
  };

  // A watched connection, for as long as its descriptor is open. One thread at a time reads and
  // writes on it (Orthanc hands it over between two messages); what is atomic may be read by
  // any thread meanwhile. Lives in ConnectionTable, and is filled anew when its descriptor is.
  struct Connection : ConnectionProgress
  {
    int fd = -1;
    std::atomic<ConnectionKind> kind = ConnectionKind::None;
    std::atomic<std::uint32_t> generation = 0;  // another number each time it is filled

    std::atomic<std::int64_t> openedAt = 0;     // Clock, nanoseconds: accepted, or connect called
    std::atomic<std::int64_t> connectedAt = 0;  // accepted, or the connect done; 0: not yet
    std::atomic<std::int64_t> lastResponseAt = 0;  // last byte of the last response; 0: none
    std::atomic<std::uint64_t> bytesRead = 0;
    std::atomic<std::uint64_t> bytesWritten = 0;
    std::atomic<bool> isEncrypted = false;
    SharedAddress peer;
    std::atomic<std::uint32_t> settingsRevision = 0;  // of the options set last; 0: none

    bool IsDicom() const noexcept
    {
      return OrthancPerf::IsDicom(kind.load(std::memory_order_relaxed));
    }

    bool IsOutgoing() const noexcept
    {
      return kind.load(std::memory_order_relaxed) == ConnectionKind::DicomOutgoing;
    }
  };
}
