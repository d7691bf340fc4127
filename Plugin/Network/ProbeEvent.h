// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Ingest/FinishedInstance.h"
#include "Ingest/FinishedRequest.h"
#include "Network/Connection.h"

#include <cstdint>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // What the hooks put into the queue. It owns no memory. The journal gets its times and sizes.
  struct ProbeEvent : ExchangeFacts
  {
    enum class Kind : std::uint8_t
    {
      Association,  // is over
      Instance,     // Orthanc has sent it, or has refused it before it asked this plugin
      Request,      // that reads, and was answered
      FailedCall,   // an association or connection that Orthanc wanted in vain
      Connected,    // a call to a peer, so far
      Resolved      // a host has this address
    };

    Kind kind = Kind::Instance;
    bool isDicom = true;           // false: over HTTP
    bool isPeerRequestor = false;  // the peer asked for the association, not Orthanc
    bool hasParties = false;
    bool isAccepted = false;  // see FinishedAssociation
    Direction direction = Direction::Send;
    AssociationOutcome outcome = AssociationOutcome::Released;
    AssociateRequest request;
    HostHash host = 0;  // that was looked up
    PeerAddress address;
    std::uint64_t thread = 0;  // that has called
    TimePoint endedAt;
    Duration length = Duration::zero();
    std::optional<Duration> connect;
    std::optional<Duration> wait;         // for the response
    std::optional<std::uint16_t> status;  // of DIMSE or HTTP
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

  // For the journal. "title": of an Orthanc peer, or of who was called in vain; empty: none.
  FinishedInstance ToInstance(const ProbeEvent& event, const std::string& title);
  FinishedAssociation ToAssociation(const ProbeEvent& event, const std::string& title);
  FinishedRequest ToRequest(const ProbeEvent& event);
}
