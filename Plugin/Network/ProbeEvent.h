// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Network/Connection.h"
#include "Network/Messages/AssociateRequest.h"

#include <cstdint>
#include <optional>

namespace OrthancPerf
{
  // Something that is over: an association, an instance that Orthanc has sent, or one that it has
  // received and refused before it asked any plugin. Durations in
  // nanoseconds; -1: not known. What the hooks put into the queue: it owns nothing.
  struct ProbeEvent
  {
    bool isAssociation;
    Direction direction;
    AssociationOutcome outcome;
    bool isPeerRequestor;  // the peer asked for the association, not Orthanc
    bool hasParties;
    bool isAccepted;  // see FinishedAssociation
    AssociateRequest request;
    PeerAddress address;
    std::int64_t setup;
    std::int64_t connect;
    std::int64_t associate;
    std::int64_t length;
    std::int64_t endedAt;
    std::int64_t idle;
    std::int64_t send;
    std::int64_t wait;
    std::int64_t stallTime;
    std::uint32_t stalls;
    StallSum lossStalls;
    std::uint32_t instances;
    std::uint64_t bytesReceived;
    std::uint64_t bytesSent;
    std::int32_t status;  // of the response to an instance; -1: not known
    std::optional<TcpSummary> tcp;
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
}
