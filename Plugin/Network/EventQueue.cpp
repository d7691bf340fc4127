// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/EventQueue.h"

#include "Ingest/Verdict.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

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


    // DICOM PS3.4 annex B.2.3 and PS3.7 annex C; the meaning of a failure, for people
    struct Failure
    {
      std::uint16_t mask;
      std::uint16_t status;
      const char* meaning;
    };

    constexpr Failure FAILURES[] = {{0xff00, 0xa700, ": out of resources"},
                                    {0xff00, 0xa900, ": the data set does not match the SOP class"},
                                    {0xf000, 0xc000, ": the receiver cannot understand it"},
                                    {0xffff, 0x0110, ": processing failure"},
                                    {0xffff, 0x0117, ": invalid SOP instance"},
                                    {0xffff, 0x0122, ": SOP class not supported"},
                                    {0xffff, 0x0124, ": not authorized"}};


    const char* Explain(std::uint16_t status)
    {
      for (const Failure& failure : FAILURES)
      {
        if ((status & failure.mask) == failure.status)
        {
          return failure.meaning;
        }
      }

      return "";
    }


    // DICOM PS3.8 table 9-21
    struct Rejection
    {
      std::uint8_t source;
      std::uint8_t reason;
      const char* meaning;
    };

    constexpr Rejection REJECTIONS[] = {{1, 2, "application context name not supported"},
                                        {1, 3, "calling AE title not recognized"},
                                        {1, 7, "called AE title not recognized"},
                                        {2, 2, "protocol version not supported"},
                                        {3, 1, "temporary congestion"},
                                        {3, 2, "local limit exceeded"}};


    std::string Explain(const PduBody& rejection)
    {
      constexpr std::size_t SOURCE = 2;
      constexpr std::size_t REASON = 3;

      for (const Rejection& known : REJECTIONS)
      {
        if (known.source == rejection[SOURCE] && known.reason == rejection[REASON])
        {
          return known.meaning;
        }
      }

      return "no reason given";
    }


    // Of a C-STORE: 0, 0xBxxx, what DIMSE has for all services, and "duplicate SOP Instance",
    // which some receivers answer where they hold it already
    bool IsHeld(std::uint16_t status)
    {
      return status == 0 || (status & 0xf000) == 0xb000 || status == 0x0001 || status == 0x0107 ||
             status == 0x0111 || status == 0x0116;
    }


    // Of a peer's answer over HTTP
    bool IsSuccess(std::uint16_t status)
    {
      return status / 100 == 2;
    }


    std::string Explain(const std::optional<std::uint16_t>& status)
    {
      return status ? "HTTP status " + std::to_string(*status) : "no HTTP response";
    }


    // Why the peer does not hold the instance; empty: it does, as far as that can be seen
    std::string GetReason(const ProbeEvent& event)
    {
      if (!event.isDicom && event.status)
      {
        return IsSuccess(*event.status) ? "" : "the peer answered " + Explain(event.status);
      }

      if (event.status && !IsHeld(*event.status))
      {
        std::array<char, 8> text = {};
        (void)std::snprintf(text.data(), text.size(), "0x%04X", *event.status);
        return std::string("the receiver answered ") + text.data() + Explain(*event.status);
      }

      // What came instead of a response may have been the peer's A-ABORT
      if (event.outcome == AssociationOutcome::Aborted && !event.status)
      {
        return "the association was aborted before the response";
      }

      if (event.wait)
      {
        return "";
      }

      return event.outcome == AssociationOutcome::Released
                 ? "the receiver sent no response"
                 : "the connection was closed before the response";
    }


    void Add(FinishedInstance& instance, Phase phase, const std::optional<Duration>& duration)
    {
      if (duration)
      {
        instance.phases.Add(phase, *duration);
      }
    }


    // What sent and received ones have in common
    FinishedInstance ToInstance(const ProbeEvent& event)
    {
      FinishedInstance instance;
      instance.direction = event.direction;
      instance.origin = Origin::DicomProtocol;
      instance.peer = ToPeer(event.request, event.hasParties, event.isPeerRequestor, event.address);
      instance.endedAt = event.endedAt;
      instance.finishedAt = ToSystemTime(instance.endedAt);
      instance.areStallsObserved = true;
      instance.stalls = event.message.stalls.count;
      instance.stallTime = event.message.stalls.time;
      Add(instance, Phase::Idle, event.message.idle);
      return instance;
    }


    // "title": of an Orthanc peer, or empty
    FinishedInstance ToSentInstance(const ProbeEvent& event, const std::string& title)
    {
      FinishedInstance sent = ToInstance(event);
      sent.reason = GetReason(event);
      sent.outcome = sent.reason.empty() ? Outcome::Stored : Outcome::Failed;
      sent.peer.name = title.empty() ? sent.peer.name : title;
      NameByAddress(sent.peer);
      sent.size = event.bytesSent;

      if (event.instances == 1)
      {
        Add(sent, Phase::Connect, event.connect);
        Add(sent, Phase::Associate, event.associate);
      }

      if (!event.isDicom)
      {
        sent.origin = Origin::RestApi;
        sent.areStallsObserved = false;
      }

      Add(sent, Phase::Send, event.message.lastByte - event.message.firstByte);
      Add(sent, Phase::Wait, event.wait);
      return sent;
    }


    // Its size is that of the message: nobody has seen a file
    FinishedInstance ToRefusedInstance(const ProbeEvent& event)
    {
      FinishedInstance refused = ToInstance(event);
      refused.reason = "Orthanc did not answer: it cannot read the data set";

      if (!event.isDicom)
      {
        refused.origin = Origin::Plugin;
        NameByAddress(refused.peer);
      }

      if (event.status)
      {
        Verdict verdict = Judge({"", false, event.status, event.isDicom});
        refused.outcome = verdict.outcome;
        refused.reason = std::move(verdict.reason);
      }

      refused.size = event.bytesReceived;
      Add(refused, Phase::Receive, event.message.lastByte - event.message.firstByte);
      Add(refused, Phase::Parse, event.wait);
      return refused;
    }


    FinishedAssociation ToAssociation(const ProbeEvent& event, const std::string& title)
    {
      FinishedAssociation association;
      association.direction = event.direction;
      association.outcome = event.outcome;
      association.isAccepted = event.isAccepted;
      association.peer =
          ToPeer(event.request, event.hasParties, event.isPeerRequestor, event.address);
      association.peer.name = title.empty() ? association.peer.name : title;
      association.length = event.length;
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

      association.setup = event.setup;

      if (event.direction == Direction::Send)
      {
        association.connect = event.connect;
      }

      association.tcp = event.tcp;

      if (event.outcome == AssociationOutcome::Rejected)
      {
        association.rejection = event.isDicom ? Explain(event.rejection) : Explain(event.status);
      }

      return association;
    }


    FinishedRequest ToRequest(const ProbeEvent& event)
    {
      FinishedRequest request;
      request.route = event.reading->route;
      request.status = event.status;
      request.address = event.address.ToString();
      request.product = MakePrintable(std::string(event.reading->product.View()));
      request.bytesSent = event.bytesSent;
      request.clientWait = event.waits.client;
      request.responses = event.reading->responses;
      request.endedAt = event.endedAt;
      request.finishedAt = ToSystemTime(event.endedAt);

      if (event.reading->responses > 0)
      {
        request.firstResponse = event.reading->firstResponse - event.message.lastByte;
      }

      const auto ifAny = [](Duration waited)
      {
        return waited == Duration::zero() ? std::nullopt : std::make_optional(waited);
      };
      const Duration send = event.waits.writing + event.waits.client;
      const Duration work = event.endedAt - event.message.lastByte - send - event.waits.database -
                            event.waits.storage;
      request.phases = {event.message.idle,
                        event.message.lastByte - event.message.firstByte,
                        ifAny(event.waits.database),
                        ifAny(event.waits.storage),
                        std::max(work, Duration::zero()),
                        send};
      return request;
    }


    Call ToCall(const ProbeEvent& event)
    {
      return {event.thread, event.address, event.begunAt, event.endedAt};
    }
  }


  AssociationParties ToParties(const AssociateRequest& request)
  {
    const auto print = [](std::string_view text)
    {
      return MakePrintable(std::string(text));
    };

    AssociationParties parties;
    parties.callingTitle = print(request.callingTitle.View());
    parties.calledTitle = print(request.calledTitle.View());
    parties.implementationVersion = print(request.implementationVersionName.View());
    parties.maximumLength = request.maximumLength;
    return parties;
  }


  Peer ToPeer(const AssociateRequest& request, bool isReadable, bool isPeerRequestor,
              const PeerAddress& address)
  {
    const std::string text = address.ToString();

    if (!isReadable)
    {
      return Peer{{}, text};
    }

    const AssociationParties parties = ToParties(request);
    return Peer{isPeerRequestor ? parties.callingTitle : parties.calledTitle, text};
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
    std::string title;  // of an Orthanc peer

    if (!event.isDicom && event.direction == Direction::Send && event.kind != Kind::Resolved)
    {
      const Destination* const found = destinations_.Find(event.host, event.address);

      if (found == nullptr || !found->isPeer)
      {
        return;  // another server with a peer's port
      }

      title = found->title;
    }

    switch (event.kind)
    {
      case Kind::Request:
        return journal.Publish(ToRequest(event));
      case Kind::Association:
        return journal.Publish(ToAssociation(event, title));
      case Kind::Instance:
        return journal.Publish(event.direction == Direction::Send ? ToSentInstance(event, title)
                                                                  : ToRefusedInstance(event));
      case Kind::FailedCall:
        return PublishFailedCall(journal, event);
      case Kind::Connected:
        return destinations_.OnConnected(ToCall(event), title);
      case Kind::Resolved:
        return destinations_.Learn(event.host, event.address);
    }
  }


  void EventQueue::PublishFailedCall(const Journal& journal, const ProbeEvent& event)
  {
    const Destination* const found = destinations_.Find(event.host, event.address);

    // Orthanc has called something else, as a database; under TLS, it was a modality
    if (found == nullptr && event.outcome != AssociationOutcome::TlsFailed)
    {
      return;
    }

    const FinishedAssociation association =
        ToAssociation(event, found != nullptr ? found->title : event.address.ToString());

    if (found != nullptr && found->isPeer && event.outcome != AssociationOutcome::Unresolved)
    {
      destinations_.OnFailed(ToCall(event), association);
    }
    else
    {
      journal.Publish(association);
    }
  }
}
