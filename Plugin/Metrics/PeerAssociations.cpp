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


    // Keeps what is known if the association could not be read: no request came, or TLS hides all
    // but what Orthanc says of an instance, the calling title
    void Update(AssociationParties& known, const AssociationParties& parties)
    {
      if (!parties.calledTitle.empty())
      {
        known = {Bound(parties.callingTitle), Bound(parties.calledTitle),
                 Bound(parties.implementationVersion), parties.maximumLength};
      }
      else if (known.callingTitle.empty())
      {
        known.callingTitle = Bound(parties.callingTitle);
      }
    }


    void AddTo(std::optional<Duration>& total, const std::optional<Duration>& duration)
    {
      if (duration)
      {
        total = total.value_or(Duration::zero()) + *duration;
      }
    }
  }


  void TimeSummary::Add(const std::optional<Duration>& duration)
  {
    if (duration)
    {
      latest = std::max(*duration, Duration::zero());
      count++;
      total += latest;
      maximum = std::max(maximum, latest);
    }
  }


  Duration TimeSummary::GetMean() const
  {
    return count == 0 ? Duration::zero() : total / static_cast<Duration::rep>(count);
  }


  void PeerAssociations::Add(const FinishedAssociation& association)
  {
    outcomes.at(static_cast<std::size_t>(association.outcome))++;
    instances += association.instances;
    bytes += association.direction == Direction::Receive ? association.bytesReceived
                                                         : association.bytesSent;
    setup.Add(association.setup);
    connect.Add(association.connect);
    Update(parties, association.parties);
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
    Update(parties, association.parties);
    tcp = association.tcp ? association.tcp : tcp;
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
