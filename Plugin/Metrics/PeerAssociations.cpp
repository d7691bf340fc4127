// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/PeerAssociations.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    std::string Bound(const std::string& text)
    {
      return text.substr(0, MAXIMUM_PEER_NAME);
    }


    void AddTo(std::optional<Duration>& total, const std::optional<Duration>& duration)
    {
      if (duration)
      {
        total = total.value_or(Duration::zero()) + *duration;
      }
    }
  }


  void PeerAssociations::Add(const FinishedAssociation& association)
  {
    outcomes.at(static_cast<std::size_t>(association.outcome))++;
    instances += association.instances;
    bytes += association.direction == Direction::Receive ? association.bytesReceived
                                                         : association.bytesSent;
    setup.Add(association.setup);
    connect.Add(association.connect);
    Update(association.parties);
    tcp = association.tcp ? association.tcp : tcp;
    rejection = association.rejection.empty() ? rejection : association.rejection;

    if (association.tcp)
    {
      retransmits = retransmits.value_or(0) + association.tcp->retransmits;
      AddTo(receiveWindowLimited, association.tcp->receiveWindowLimited);
      AddTo(sendBufferLimited, association.tcp->sendBufferLimited);
    }
  }


  void PeerAssociations::Add(const OpenAssociation& association)
  {
    open = open.value_or(0) + 1;
    Update(association.parties);
    tcp = association.tcp ? association.tcp : tcp;
  }


  void PeerAssociations::Update(const AssociationParties& latest)
  {
    if (!latest.calledTitle.empty())
    {
      parties = {Bound(latest.callingTitle), Bound(latest.calledTitle),
                 Bound(latest.implementationVersion), latest.maximumLength};
    }
    else if (parties.callingTitle.empty())
    {
      parties.callingTitle = Bound(latest.callingTitle);
    }
  }


  bool PeerAssociations::IsAny() const
  {
    return open.value_or(0) > 0 ||
           std::any_of(outcomes.begin(), outcomes.end(), [](auto count) { return count > 0; });
  }


  std::uint64_t PeerAssociations::CountEstablished() const
  {
    return GetCount(AssociationOutcome::Released) + GetCount(AssociationOutcome::Aborted) +
           GetCount(AssociationOutcome::Lost) + GetCount(AssociationOutcome::Encrypted);
  }
}
