// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/ProbeEvent.h"

#include "Network/Parties.h"

namespace OrthancPerf
{
  namespace
  {
    // TLS hides the title of the peer
    void NameByAddress(Peer& peer)
    {
      if (peer.name.empty())
      {
        peer.name = peer.address;
      }
    }
  }


  FinishedInstance ToSentInstance(const ProbeEvent& event)
  {
    FinishedInstance sent;
    sent.direction = Direction::Send;
    sent.origin = Origin::DicomProtocol;
    sent.outcome = event.wait < 0 ? Outcome::Failed : Outcome::Stored;
    sent.peer = ToPeer(event.request, event.hasParties, event.isPeerRequestor, event.address);
    NameByAddress(sent.peer);
    sent.size = event.bytesSent;
    sent.finishedAt = ToSystemTime(ToTimePoint(event.endedAt));
    sent.areStallsObserved = true;
    sent.stalls = event.stalls;
    sent.stallTime = Duration(event.stallTime);

    const auto add = [&sent](Phase phase, std::int64_t duration)
    {
      if (duration >= 0)
      {
        sent.phases.Add(phase, Duration(duration));
      }
    };

    if (event.instances == 1)
    {
      add(Phase::Connect, event.connect);
      add(Phase::Associate, event.associate);
    }

    add(Phase::Idle, event.idle);
    add(Phase::Send, event.send);
    add(Phase::Wait, event.wait);
    return sent;
  }


  FinishedAssociation ToAssociation(const ProbeEvent& event)
  {
    FinishedAssociation association;
    association.direction = event.direction;
    association.outcome = event.outcome;
    association.peer =
        ToPeer(event.request, event.hasParties, event.isPeerRequestor, event.address);
    association.length = Duration(event.length);
    association.instances = event.instances;
    association.bytesReceived = event.bytesReceived;
    association.bytesSent = event.bytesSent;

    if (event.outcome == AssociationOutcome::Encrypted)
    {
      NameByAddress(association.peer);
    }

    if (event.hasParties)
    {
      association.parties = ToParties(event.request);
    }

    if (event.setup >= 0)
    {
      association.setup = Duration(event.setup);
    }

    if (event.direction == Direction::Send && event.connect >= 0)
    {
      association.connect = Duration(event.connect);
    }

    if (event.tcp)
    {
      association.tcp = Summarize(*event.tcp);
    }

    return association;
  }
}
