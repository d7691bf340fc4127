// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/Connection.h"

#include "Ingest/Clock.h"

#include <cstddef>

namespace OrthancPerf
{
  // What the probe sees, told on the thread that does it, in the order in which it happens. Called
  // within hooks: must be done in a microsecond, take no lock that another thread holds for
  // longer, allocate nothing between OnRequestBegins and OnClosed, and not call Orthanc.
  // Owned by the plugin's context; outlives the probe.
  //
  // A request is what the client of the connection sends: read by Orthanc on connections that it
  // accepted, written by it on those that it opened. Requests and responses are told apart by
  // their direction alone, so that TLS makes no difference: DIMSE as Orthanc speaks it is strictly
  // alternate (no asynchronous operations), and so is HTTP/1.1 without pipelining. The first
  // byte in the direction of requests after a response begins the next request, the first byte
  // the other way begins its response.
  // What is no C-STORE or upload (TLS and association handshakes, C-ECHO, the sub-operations of a
  // C-GET) makes exchanges as well: they end without an instance, and the observer drops them.
  class IConnectionObserver
  {
  public:
    virtual ~IConnectionObserver() = default;

    // Accepted, or, for an outgoing connection, known to be DICOM: connection.openedAt tells when
    // connect() was called, connection.connectedAt when it was done.
    virtual void OnOpened(Connection& connection, TimePoint now) noexcept = 0;

    // The A-ASSOCIATE-RQ, where it is readable
    virtual void OnAssociateRequest(Connection& connection, const AssociateRequest& request,
                                    TimePoint now) noexcept = 0;

    // A-ASSOCIATE-AC or -RJ went by; under TLS not seen
    virtual void OnAssociateAnswer(Connection& connection, bool isAccepted,
                                   TimePoint now) noexcept = 0;

    // "outcome" has no meaning for HTTP.
    virtual void OnClosed(Connection& connection, AssociationOutcome outcome,
                          TimePoint now) noexcept = 0;

    // The first byte of a request. connection.lastResponseAt is the end of the previous response.
    virtual void OnRequestBegins(Connection& connection, TimePoint now) noexcept = 0;

    // Bytes of a request, the first ones included; the last such call has its last byte.
    virtual void OnRequestBytes(Connection& connection, const std::uint8_t* data, std::size_t size,
                                TimePoint now) noexcept = 0;

    // Bytes of its response; what ends it is the next request, or the close
    virtual void OnResponseBytes(Connection& connection, const std::uint8_t* data, std::size_t size,
                                 TimePoint now) noexcept = 0;

    // The thread waited for the next byte of a request or response that has begun; or, before one
    // begins, the kernel held the end of what Orthanc had written back (Nagle's algorithm and the
    // peer's delayed ACK): STALL (20 ms) or longer. Of an accepted connection, the latter is part
    // of "idle" as well. A wait for a message to begin is the peer's otherwise.
    virtual void OnStall(Connection& connection, Duration waited, TimePoint now) noexcept = 0;
  };
}
