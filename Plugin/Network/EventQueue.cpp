// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/EventQueue.h"

#include <utility>

namespace OrthancPerf
{
  namespace
  {
    Call ToCall(const ProbeEvent& event)
    {
      return {event.thread, event.address, event.begunAt, event.endedAt};
    }
  }


  EventQueue::EventQueue() : events_(std::make_unique<Events>())
  {
  }


  void EventQueue::Push(const ProbeEvent& event) noexcept
  {
    if (!events_->push(event))
    {
      dropped_.fetch_add(1, std::memory_order_relaxed);
    }
  }


  void EventQueue::SetDestinations(std::vector<Destination> destinations)
  {
    const std::lock_guard<std::mutex> lock(draining_);
    destinations_.Set(std::move(destinations));
  }


  void EventQueue::Drain(const Journal& journal, TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(draining_);
    ProbeEvent event = {};

    while (events_->pop(event))
    {
      Publish(journal, event);
    }

    for (const FinishedAssociation& failure : destinations_.TakeFailed(now))
    {
      journal.Publish(failure);
    }
  }


  void EventQueue::Publish(const Journal& journal, const ProbeEvent& event)
  {
    using Kind = ProbeEvent::Kind;
    const bool isToPeer =
        !event.isDicom && event.direction == Direction::Send && event.kind != Kind::Resolved;
    const bool hasFailed = event.kind == Kind::FailedCall;
    const Destination* const found =
        isToPeer || hasFailed ? destinations_.Find(event.host, event.address) : nullptr;
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
          return destinations_.OnFailed(ToCall(event), ToAssociation(event, title));
        }
        [[fallthrough]];
      case Kind::Association:
        return journal.Publish(ToAssociation(event, title));
      case Kind::Connected:
        return destinations_.OnConnected(ToCall(event), title);
      case Kind::Resolved:
        return destinations_.Learn(event.host, event.address);
    }
  }
}
