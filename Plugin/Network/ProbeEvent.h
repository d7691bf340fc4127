// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Ingest/MessageSource.h"
#include "Network/Connection.h"
#include "Network/Destination.h"
#include "Network/Messages/AssociateRequest.h"
#include "Network/Messages/DimseReader.h"
#include "Network/Sockets/PeerAddress.h"

#include <cstdint>
#include <optional>

namespace OrthancPerf
{
  // Something that is over: an association, a request that reads, or an instance. Orthanc has
  // sent the instance, or has refused it before it asked this plugin. What the hooks put into the
  // queue: it owns nothing.
  struct ProbeEvent
  {
    bool isAssociation = false;
    bool isDicom = true;                    // false: of a STOW-RS request, or to a peer over HTTP
    std::optional<ReadingRequest> reading;  // a request that reads
    ReadWaits waits;                        // of it
    bool isUncalled = false;   // an association that Orthanc wanted and could not ask for
    bool isResolved = false;   // an address of a host
    bool isConnected = false;  // a call to a peer, so far
    Direction direction = Direction::Receive;
    AssociationOutcome outcome = AssociationOutcome::Released;
    bool isPeerRequestor = false;  // the peer asked for the association, not Orthanc
    bool hasParties = false;
    bool isAccepted = false;  // see FinishedAssociation
    AssociateRequest request;
    PeerAddress address;
    HostHash host = 0;         // that was called
    std::uint64_t thread = 0;  // that has called, as the next one
    TimePoint begunAt;
    std::optional<Duration> setup;
    std::optional<Duration> connect;
    std::optional<Duration> associate;
    Duration length = Duration::zero();
    MessageTimes message;
    std::optional<Duration> wait;         // for the response
    std::optional<std::uint16_t> status;  // of the response to an instance
    TimePoint endedAt;
    std::uint32_t instances = 0;
    std::uint64_t bytesReceived = 0;
    std::uint64_t bytesSent = 0;
    std::optional<TcpSummary> tcp;
    PduBody rejection = {};  // the A-ASSOCIATE-RJ
  };

  // Who asks for the association, made printable
  AssociationParties ToParties(const AssociateRequest& request);

  // The other end: it has called, or it was called. Without a name unless the request is readable.
  Peer ToPeer(const AssociateRequest& request, bool isReadable, bool isPeerRequestor,
              const PeerAddress& address);

  FinishedInstance ToSentInstance(const ProbeEvent& event);

  // Its size is that of the message: nobody has seen a file
  FinishedInstance ToRefusedInstance(const ProbeEvent& event);
  FinishedAssociation ToAssociation(const ProbeEvent& event);
  FinishedRequest ToRequest(const ProbeEvent& event);
}
