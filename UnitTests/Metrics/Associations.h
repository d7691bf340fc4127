// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"

#include <string>

namespace OrthancPerf
{
  // What a kernel that tells everything says
  inline TcpSummary MakeTcp()
  {
    TcpSummary tcp;
    tcp.roundTrip = std::chrono::milliseconds(3);
    tcp.minimumRoundTrip = std::chrono::milliseconds(2);
    tcp.sendMss = 1448;
    tcp.receiveMss = 1400;
    tcp.retransmits = 5;
    tcp.sendWindow = 65535;
    tcp.receiveWindow = 131072;
    tcp.busy = std::chrono::milliseconds(800);
    tcp.receiveWindowLimited = std::chrono::milliseconds(500);
    tcp.sendBufferLimited = std::chrono::milliseconds(250);
    return tcp;
  }

  inline AssociationParties MakeParties(const std::string& peer)
  {
    return {peer, "ORTHANC", "OFFIS_DCMTK_367", 16384};
  }

  // An association of two seconds, accepted from this peer, over which four instances came
  inline FinishedAssociation MakeAssociation(const std::string& peer)
  {
    FinishedAssociation association;
    association.outcome = AssociationOutcome::Released;
    association.isAccepted = true;
    association.peer = {peer, "192.0.2.1"};
    association.parties = MakeParties(peer);
    association.setup = std::chrono::milliseconds(10);
    association.length = std::chrono::seconds(2);
    association.instances = 4;
    association.bytesReceived = 4400;
    association.bytesSent = 300;
    association.tcp = MakeTcp();
    return association;
  }

  // An association accepted from this peer one second ago
  inline OpenAssociation MakeOpenAssociation(const std::string& peer)
  {
    OpenAssociation association;
    association.isAccepted = true;
    association.peer = {peer, "192.0.2.1"};
    association.parties = MakeParties(peer);
    association.age = std::chrono::seconds(1);
    association.bytesReceived = 1100;
    association.bytesSent = 100;
    association.tcp = MakeTcp();
    return association;
  }
}
