// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Ingest/FinishedRequest.h"
#include "Ingest/MessageSource.h"
#include "Network/AskedServers.h"
#include "Network/Messages/AssociateRequest.h"
#include "Network/Messages/DimseReader.h"
#include "Network/Sockets/PeerAddress.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

namespace OrthancPerf
{
  enum class ConnectionKind : std::uint8_t
  {
    None,           // not watched
    DicomAccepted,  // Orthanc is the server
    DicomOutgoing,  // Orthanc is the client
    HttpAccepted,
    HttpOutgoing,      // to an Orthanc peer
    OutgoingCandidate  // connected by Orthanc, nothing written yet: DICOM or not
  };

  // An HTTP response under TLS has more bytes, an alert (RFC 8446 section 6) less
  constexpr std::uint64_t SMALLEST_RESPONSE = 100;

  constexpr bool IsDicom(ConnectionKind kind) noexcept
  {
    return kind == ConnectionKind::DicomAccepted || kind == ConnectionKind::DicomOutgoing;
  }

  // Where a connection is between a request and its response
  enum class ExchangeState : std::uint8_t
  {
    Quiet,    // nothing has gone by so far
    Request,  // bytes of a request have gone by
    Response  // bytes of its response have gone by
  };

  // How far TLS on a connection that Orthanc has opened is, by the headers of records (RFC 8446
  // section 5.1): the A-ASSOCIATE-RQ is the first message with application data
  enum class TlsProgress : std::uint8_t
  {
    Handshake,         // or no TLS
    AssociateRequest,  // of DICOM
    Messages
  };

  // A request that reads: of HTTP, as Orthanc's filter of requests has told, or of DIMSE
  struct ReadingRequest
  {
    RouteClass route = RouteClass::Other;
    BoundedText<24> product;      // of the client's User-Agent (RFC 9110 section 10.1.5), as sent
    std::uint16_t command = 0;    // of DIMSE, as the next ones
    std::uint32_t responses = 0;  // so far
    bool isCounted = false;       // the latest of them
    TimePoint firstResponse;
  };

  // What is reported of a connection when its message ends, or when the connection ends
  struct ExchangeFacts
  {
    MessageTimes message;                   // the one under way, or the latest
    std::optional<ReadingRequest> reading;  // the request under way, if it only reads
    ReadWaits waits;                        // of its thread, as it wrote last
    std::uint32_t instances = 0;            // that were sent over the connection
    std::optional<Duration> setup;          // accepted, or connect called -> answer
    std::optional<Duration> associate;      // request -> answer
  };

  // How far a connection is, for the thread that has it
  struct ConnectionProgress : ExchangeFacts
  {
    static constexpr std::uint64_t NEVER = std::numeric_limits<std::uint64_t>::max();

    ExchangeState state = ExchangeState::Quiet;
    PeerAddress peer;
    bool isAnswered = false;      // the association: accepted or rejected; a request to a peer
    bool isUpload = false;        // the request under way, to a peer: of an instance
    bool isAwaited = false;       // the peer's answer: Orthanc has nothing more to write
    bool isPeerGone = false;      // nothing more will come, and nothing arrives
    bool isBrokenOff = false;     // by Orthanc, inside a request,
    bool isRefused = false;       // and not as it waited for more in vain
    bool isNoDelayAsked = false;  // by Orthanc itself: TCP_NODELAY
    std::optional<TimePoint> connectedAt;    // accepted, or the connect done
    int connectError = 0;                    // why there is no connection: errno(3)
    TimePoint readAt;                        // the latest byte
    std::optional<TimePoint> respondedAt;    // last byte of the last response
    std::uint64_t responseBytes = 0;         // to HTTP and to what reads, so far
    MessageTimes asked;                      // of DIMSE: the request that reads
    bool isServed = false;                   // the request under way, by Orthanc: not refused
    bool isStow = false;                     // a STOW-RS request without a response so far
    std::optional<TimePoint> restSince;      // what may be the body of a refused request
    Duration waited = Duration::zero();      // for the next byte to read, so far
    Duration heldBack = Duration::zero();    // of it, while the kernel held back what was written
    std::optional<TimePoint> heldBackSince;  // seen while it waits for a message to begin
    std::uint64_t requestBytes = 0;          // of the request under way, so far
    std::uint64_t askAt = NEVER;             // with so many of them, AdmissionQueue is asked
    bool isCounted = false;                  // by AdmissionQueue, which was asked
    AssociationOutcome outcome = AssociationOutcome::Incomplete;
    AssociateRequestParser associateRequest;
    DimseReader read;
    DimseReader written;

    TlsProgress tls = TlsProgress::Handshake;
    StallSum heldStalls;              // of the response before, for the next message
    std::uint64_t claimedSerial = 0;  // the latest message of which the ingest tells
  };

  // The last instance of an association is taken up within half a second: by then its
  // descriptor may have seen the release, and another short association or two
  constexpr std::size_t REMEMBERED_RESPONSES = 8;

  // What is known of the response to a message
  struct RememberedResponse
  {
    std::atomic<TimePoint> lastByte = TimePoint();  // so far; TimePoint(): none yet
    std::atomic<std::int32_t> status = -1;  // DIMSE or HTTP; -1: it cannot be read. Written first.
  };

  // A watched connection, for as long as its descriptor is open, and what is remembered of its
  // messages until the descriptor is used again. One thread at a time reads and writes on it
  // (Orthanc hands it over between two messages); what is atomic may be read by any thread
  // meanwhile. Lives in ConnectionTable, and is filled anew when its descriptor is.
  struct Connection : ConnectionProgress
  {
    int fd = -1;
    std::atomic<ConnectionKind> kind = ConnectionKind::None;
    std::atomic<TimePoint> openedAt = TimePoint();  // accepted, or connect called
    std::atomic<std::uint64_t> bytesRead = 0;
    std::atomic<std::uint64_t> bytesWritten = 0;
    std::atomic<bool> isEncrypted = false;
    std::atomic<std::uint32_t> settingsRevision = 0;  // of the options set last; 0: none

    // The request is fixed once hasParties is set. Any thread may read it, without protection: one
    // that finds the connection closed afterwards forgets what it read.
    AssociateRequest request;
    std::atomic<bool> hasParties = false;
    std::atomic<bool> isAccepted = false;  // as in FinishedAssociation

    // Of its messages; serials grow for good
    std::atomic<std::uint64_t> serial = 0;        // the latest
    std::atomic<std::uint64_t> closedSerial = 0;  // the latest when a connection was closed last
    std::array<RememberedResponse, REMEMBERED_RESPONSES> responses = {};
    std::atomic<bool> isFileClosed = false;  // of the latest instance

    ConnectionKind GetKind() const noexcept
    {
      return kind.load(std::memory_order_relaxed);
    }

    bool IsDicom() const noexcept
    {
      return OrthancPerf::IsDicom(GetKind());
    }

    bool IsToPeer() const noexcept
    {
      return GetKind() == ConnectionKind::HttpOutgoing;
    }

    bool IsHttpAccepted() const noexcept
    {
      return GetKind() == ConnectionKind::HttpAccepted;
    }

    bool IsOutgoing() const noexcept
    {
      return IsToPeer() || GetKind() == ConnectionKind::DicomOutgoing;
    }

    bool IsEncrypted() const noexcept
    {
      return isEncrypted.load(std::memory_order_relaxed);
    }

    // In the direction of requests, or of responses
    DimseReader& GetReader(bool isOfRequests) noexcept
    {
      return IsOutgoing() == isOfRequests ? written : read;
    }

    // Orthanc has sent a C-STORE request over an association that the peer has asked for, during a
    // C-GET (DICOM PS3.4 section C.4.3), and its end was not told yet
    bool HasSubOperation() const noexcept
    {
      return !IsOutgoing() && written.GetCommand() == C_STORE_REQUEST;
    }

    // Whether the next byte to read begins a message: until then, the peer may be thinking
    bool IsMessageAwaited() const noexcept
    {
      return state == (IsOutgoing() ? ExchangeState::Request : ExchangeState::Response);
    }

    // The ingest tells what becomes of the message under way
    bool IsClaimed() const noexcept
    {
      return claimedSerial == serial.load(std::memory_order_relaxed);
    }

    // To one of the latest messages
    const RememberedResponse& GetResponse(std::uint64_t messageSerial) const noexcept
    {
      return responses[messageSerial % responses.size()];
    }

    // To the latest one
    RememberedResponse& GetResponse() noexcept
    {
      return responses[serial.load(std::memory_order_relaxed) % responses.size()];
    }

    // When that was written, so far
    std::optional<TimePoint> GetAnsweredAt() noexcept
    {
      const TimePoint at = GetResponse().lastByte.load(std::memory_order_relaxed);
      return at == TimePoint() ? std::nullopt : std::make_optional(at);
    }

    // The A-ASSOCIATE-AC or -RJ went by; under TLS, it is known for that afterwards
    void OnAssociateAnswer(TimePoint at) noexcept
    {
      setup = at - openedAt.load(std::memory_order_relaxed);
      associate = at - message.firstByte;
    }
  };

  // The watched connections by file descriptor: an array, so that a hook knows at once whether a
  // descriptor is watched. Descriptors beyond its end are never watched. Takes no lock; owned by
  // ConnectionTracker. A descriptor is opened and closed by the thread that has it; any thread may
  // look.
  class ConnectionTable
  {
  public:
    // A multiple of the 1024 descriptors that a process has by default (getrlimit(2)), in about
    // 5 MB of memory
    static constexpr std::size_t CAPACITY = 4096;

    ConnectionTable();

    // Null if the descriptor is not watched
    Connection* Find(int fd) noexcept
    {
      const auto index = static_cast<std::size_t>(fd);  // negative: beyond the end
      const bool isWatched =
          index < CAPACITY &&
          connections_[index].kind.load(std::memory_order_acquire) != ConnectionKind::None;
      return isWatched ? &connections_[index] : nullptr;
    }

    // Watches the descriptor from now on; null if it is beyond the end. What was known of the
    // descriptor before is forgotten.
    Connection* Open(int fd, ConnectionKind kind, const PeerAddress& peer, TimePoint now) noexcept;

    static void Close(Connection& connection) noexcept
    {
      connection.kind.store(ConnectionKind::None, std::memory_order_release);
    }

    // Forgets all; while no hook uses the table
    void Clear() noexcept;

    // All places, watched or not, for a look by any thread
    const Connection& At(std::size_t fd) const noexcept
    {
      return connections_[fd];
    }

  private:
    const std::unique_ptr<Connection[]> connections_;
  };
}
