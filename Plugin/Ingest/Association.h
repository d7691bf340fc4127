// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Enumeration.h"
#include "Ingest/FinishedInstance.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // How an association ended
  enum class AssociationOutcome
  {
    Released,    // A-RELEASE (DICOM PS3.8 section 7.2)
    Rejected,    // A-ASSOCIATE-RJ; of an Orthanc peer, an HTTP error
    Aborted,     // A-ABORT, from either side
    Lost,        // the connection was closed without any of these
    Incomplete,  // the connection was closed before an association was answered
    Encrypted,   // the connection was closed; TLS hides how

    // Orthanc has called, and could not ask for an association
    Refused,      // nobody listens there: ECONNREFUSED
    TimedOut,     // no connection, or answer of a peer, within Orthanc's "Timeout" or ETIMEDOUT
    Unreachable,  // any other error of connect(2), as no route
    Unresolved,   // the host's name has no address: getaddrinfo(3)
    TlsFailed     // the connection was closed inside the handshake, or right behind it
  };

  template <>
  inline constexpr std::array LABELS<AssociationOutcome> = {
      "released", "rejected", "aborted",     "lost",       "incomplete", "encrypted",
      "refused",  "timeout",  "unreachable", "unresolved", "tls"};
  constexpr std::size_t ASSOCIATION_OUTCOME_COUNT = LABELS<AssociationOutcome>.size();
  constexpr auto GetAllAssociationOutcomes = ListAll<AssociationOutcome>;

  // What the kernel said of a TCP connection (tcp(7), TCP_INFO). One that is older than a field
  // leaves it absent.
  struct TcpSummary
  {
    Duration roundTrip = Duration::zero();  // smoothed
    std::uint32_t sendMss = 0;              // bytes
    std::uint32_t receiveMss = 0;
    std::uint32_t congestionWindow = 0;         // segments of sendMss
    std::uint32_t unacknowledged = 0;           // segments under way
    std::uint32_t retransmits = 0;              // segments sent again, in all
    Duration sinceDataSent = Duration::zero();  // as exact as the kernel's ticks, 1 to 10 ms

    std::optional<Duration> minimumRoundTrip;      // Linux 4.6
    std::optional<Duration> busy;                  // time with data to send (Linux 4.9)
    std::optional<Duration> receiveWindowLimited;  // of it, held back by the peer's window
    std::optional<Duration> sendBufferLimited;     // of it, held back by our own buffer
    std::optional<std::uint32_t> sendWindow;       // the peer's window, bytes (Linux 5.4)
    std::optional<std::uint32_t> receiveWindow;    // ours, bytes (Linux 6.2)
  };

  // What the kernel says of a socket: options that it does not have are absent.
  struct SocketOptions
  {
    std::optional<bool> noDelay;
    std::optional<std::uint32_t> receiveBuffer;  // bytes, with the kernel's own overhead (doubled)
    std::optional<std::uint32_t> sendBuffer;
    std::optional<bool> isReceiveBufferFixed;  // SO_BUF_LOCK: Linux 5.14 and newer
    std::optional<bool> isSendBufferFixed;
    std::optional<std::uint32_t> keepAlive;    // seconds; 0: off
    std::optional<std::uint32_t> userTimeout;  // seconds; 0: the system's
    std::string congestionControl;
  };

  // Who asked for an association, and how, from the A-ASSOCIATE-RQ (DICOM PS3.8 section 9.3.2),
  // made printable. Empty where it is not readable.
  struct AssociationParties
  {
    std::string callingTitle;
    std::string calledTitle;
    std::string implementationVersion;
    std::uint32_t maximumLength = 0;  // of the requestor's PDUs, bytes; 0: no limit, or not known
  };

  // What is known of an association, open or over. A value; holds no patient data.
  struct Association
  {
    Direction direction = Direction::Receive;

    // At any time. Under TLS, where that is not readable: it has brought an instance, or Orthanc
    // has asked for it.
    bool isAccepted = false;

    Peer peer;
    AssociationParties parties;
    std::uint64_t bytesReceived = 0;  // by Orthanc, of all that went over the connection
    std::uint64_t bytesSent = 0;
    std::optional<TcpSummary> tcp;
  };

  // One that is over, or an HTTP connection to an Orthanc peer
  struct FinishedAssociation : Association
  {
    AssociationOutcome outcome = AssociationOutcome::Lost;
    std::optional<Duration> setup;    // accepted, or connect called, until it was answered
    std::optional<Duration> connect;  // of an outgoing one: the TCP handshake alone
    Duration length = Duration::zero();
    std::uint64_t instances = 0;  // that were sent over it
    std::string rejection;  // why it was rejected: of DICOM PS3.8 table 9-21, or "HTTP status 401"

    // The requestor did not get what it asked for
    bool HasFailed() const
    {
      return !setup || outcome == AssociationOutcome::Rejected;
    }
  };

  // One that is open now
  struct OpenAssociation : Association
  {
    Duration age = Duration::zero();
    std::optional<std::uint32_t> unread;  // bytes that have come and wait for Orthanc to read them
    SocketOptions options;
  };

  // All associations that are open now; empty: it is not known. Any thread may call it.
  using ListOpenAssociations = std::function<std::vector<OpenAssociation>()>;
}
