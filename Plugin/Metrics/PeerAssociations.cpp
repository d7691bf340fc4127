// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/PeerAssociations.h"

#include <algorithm>
#include <numeric>

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
      if (known.callingTitle.empty())
      {
        known.callingTitle = Bound(parties.callingTitle);
      }

      if (!parties.calledTitle.empty())
      {
        known.callingTitle = Bound(parties.callingTitle);
        known.calledTitle = Bound(parties.calledTitle);
        known.implementationVersion = Bound(parties.implementationVersion);
        known.maximumLength = parties.maximumLength;
      }
    }


    void AddTo(std::optional<Duration>& total, const std::optional<Duration>& duration)
    {
      if (duration)
      {
        total = total.value_or(Duration::zero()) + *duration;
      }
    }


    void AddTo(TimeSummary& summary, const std::optional<Duration>& duration)
    {
      if (duration)
      {
        summary.Add(*duration);
      }
    }
  }


  void TimeSummary::Add(Duration duration)
  {
    latest = std::max(duration, Duration::zero());
    count++;
    total += latest;
    maximum = std::max(maximum, latest);
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
    AddTo(setup, association.setup);
    AddTo(connect, association.connect);
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
    std::uint64_t count = std::accumulate(outcomes.begin(), outcomes.end(), std::uint64_t{0});

    for (const AssociationOutcome outcome :
         {AssociationOutcome::Rejected, AssociationOutcome::Incomplete, AssociationOutcome::Refused,
          AssociationOutcome::TimedOut, AssociationOutcome::Unreachable,
          AssociationOutcome::Unresolved, AssociationOutcome::TlsFailed})
    {
      count -= outcomes.at(static_cast<std::size_t>(outcome));
    }

    return count;
  }
}
