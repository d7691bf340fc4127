// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/EventQueue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // A failed call counts once no other one has replaced it for so long
    constexpr Duration HELD = std::chrono::seconds(1);
  }

  EventQueue::EventQueue() :
    requests_(std::make_unique<Events>()),
    events_(std::make_unique<Events>())
  {
  }

  void EventQueue::Push(const ProbeEvent& event) noexcept
  {
    if (!(event.kind == ProbeEvent::Kind::Request ? requests_ : events_)->push(event))
    {
      dropped_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void EventQueue::SetDestinations(std::vector<Destination> destinations)
  {
    const std::lock_guard<std::mutex> lock(draining_);
    std::vector<std::uint8_t> owners(ports_.size());
    destinations_ = std::move(destinations);

    for (const Destination& one : destinations_)
    {
      owners[one.port] |= one.isPeer ? PEER : one.isEncrypted ? ENCRYPTED : 0;
    }

    // A port that stays is never missing meanwhile
    for (std::size_t port = 0; port < ports_.size(); port++)
    {
      ports_[port].store(owners[port], std::memory_order_relaxed);
    }
  }

  void EventQueue::Drain(const Journal& journal, TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(draining_);
    ProbeEvent event = {};

    while (events_->pop(event) || requests_->pop(event))
    {
      Publish(journal, event);
    }

    for (FailedCall& call : failed_)
    {
      if (!call.isTold && now - call.latest.endedAt >= HELD)
      {
        call.isTold = true;
        journal.Publish(ToAssociation(call.latest, call.title));
      }
    }
  }

  void EventQueue::Publish(const Journal& journal, const ProbeEvent& event)
  {
    using Kind = ProbeEvent::Kind;
    const bool isToPeer =
        !event.isDicom && event.direction == Direction::Send && event.kind != Kind::Resolved;
    const bool hasFailed = event.kind == Kind::FailedCall;
    const Destination* const found = isToPeer || hasFailed ? Find(event) : nullptr;
    const bool isPeer = found != nullptr && found->isPeer;

    // Orthanc has called something else: another server with a peer's port, or a database. Under
    // TLS, it was a modality.
    if ((isToPeer && !isPeer) ||
        (hasFailed && found == nullptr && event.outcome != AssociationOutcome::TlsFailed))
    {
      return;
    }

    const std::string title = found != nullptr ? found->title
                              : hasFailed      ? event.address.ToString()
                                               : std::string();

    switch (event.kind)
    {
      case Kind::Request:
        return journal.Publish(ToRequest(event));
      case Kind::Instance:
        return journal.Publish(ToInstance(event, title));
      case Kind::FailedCall:
        if (isPeer && event.outcome != AssociationOutcome::Unresolved)
        {
          return HoldBack(event, title);
        }
        [[fallthrough]];
      case Kind::Association:
        return journal.Publish(ToAssociation(event, title));
      case Kind::Connected:
        if (const auto former = FindFormer(event, title); former != failed_.end())
        {
          failed_.erase(former);
        }
        return;
      case Kind::Resolved:
        return Learn(event);
    }
  }

  void EventQueue::Learn(const ProbeEvent& event)
  {
    if (FindHost(event.host, event.address.port) == nullptr)
    {
      return;
    }

    const auto known = std::find_if(addresses_.begin(), addresses_.end(),
                                    [&event](const Address& one) {
                                      return one.ip == event.address.ip && one.host == event.host;
                                    });

    if (known != addresses_.end())
    {
      addresses_.erase(known);
    }

    addresses_.push_back({event.address.ip, event.host});
  }

  void EventQueue::HoldBack(const ProbeEvent& call, const std::string& title)
  {
    if (const auto former = FindFormer(call, title); former != failed_.end())
    {
      former->latest = call;
    }
    else
    {
      failed_.push_back({call.address, call, title});
    }
  }

  // The latest one that this continues, with the next address of the host: the same one again is
  // another call
  EventQueue::FailedCalls::iterator EventQueue::FindFormer(const ProbeEvent& call,
                                                           const std::string& title)
  {
    const auto isFormer = [&](const FailedCall& former)
    {
      const bool isSame =
          former.first.ip == call.address.ip && former.first.port == call.address.port;
      return former.latest.thread == call.thread && former.title == title && !isSame &&
             call.endedAt - call.length - former.latest.endedAt < HELD;
    };
    const auto found = std::find_if(failed_.rbegin(), failed_.rend(), isFormer);
    return found == failed_.rend() ? failed_.end() : std::prev(found.base());
  }

  // The first with this address, by the host that was found there last; of a name without an
  // address, the first with this host, and this port but 0. Null: Orthanc has called something
  // else, as a database.
  const Destination* EventQueue::Find(const ProbeEvent& event) const
  {
    const PeerAddress& address = event.address;

    if (event.host != 0)
    {
      return FindHost(event.host, address.port);
    }

    // Neither DCMTK nor libcurl looks an address up that is one already
    const Destination* found = FindHost(HashHost(address.ToString()), address.port);

    for (auto known = addresses_.rbegin(); found == nullptr && known != addresses_.rend(); ++known)
    {
      found = known->ip == address.ip ? FindHost(known->host, address.port) : nullptr;
    }

    return found;
  }

  const Destination* EventQueue::FindHost(HostHash host, std::uint16_t port) const
  {
    for (const Destination& destination : destinations_)
    {
      if (destination.host == host && (port == 0 ? !destination.isPeer : destination.port == port))
      {
        return &destination;
      }
    }

    return nullptr;
  }
}
