// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Network/AssociateRequest.h"
#include "Network/Connection.h"

namespace OrthancPerf
{
  // Who asks for the association, made printable
  AssociationParties ToParties(const AssociateRequest& request);

  // The other end: it has called, or it was called. Without a name unless the request is readable.
  Peer ToPeer(const AssociateRequest& request, bool isReadable, bool isPeerRequestor,
              const PeerAddress& address);
}
