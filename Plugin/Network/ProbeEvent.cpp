// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/ProbeEvent.h"

#include "Ingest/Verdict.h"

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // What a number of the standard means, for people
    struct Meaning
    {
      std::uint16_t mask;
      std::uint16_t code;
      const char* text;
    };

    // Status of a C-STORE: DICOM PS3.4 annex B.2.3 and PS3.7 annex C
    constexpr Meaning FAILURES[] = {{0xff00, 0xa700, ": out of resources"},
                                    {0xff00, 0xa900, ": the data set does not match the SOP class"},
                                    {0xf000, 0xc000, ": the receiver cannot understand it"},
                                    {0xffff, 0x0110, ": processing failure"},
                                    {0xffff, 0x0117, ": invalid SOP instance"},
                                    {0xffff, 0x0122, ": SOP class not supported"},
                                    {0xffff, 0x0124, ": not authorized"}};

    // Source and reason of an A-ASSOCIATE-RJ: DICOM PS3.8 table 9-21
    constexpr Meaning REJECTIONS[] = {{0xffff, 0x0102, "application context name not supported"},
                                      {0xffff, 0x0103, "calling AE title not recognized"},
                                      {0xffff, 0x0107, "called AE title not recognized"},
                                      {0xffff, 0x0202, "protocol version not supported"},
                                      {0xffff, 0x0301, "temporary congestion"},
                                      {0xffff, 0x0302, "local limit exceeded"}};

    template <std::size_t Size>
    std::string Explain(const Meaning (&meanings)[Size], std::uint16_t code, const char* otherwise)
    {
      const auto* const end = meanings + Size;
      const auto* const found = std::find_if(meanings, end,
                                             [code](const Meaning& meaning)
                                             { return (code & meaning.mask) == meaning.code; });
      return found == end ? otherwise : found->text;
    }

    std::string DescribeHttp(const std::optional<std::uint16_t>& status)
    {
      return status ? "HTTP status " + std::to_string(*status) : "no HTTP response";
    }

    // Of a C-STORE: 0, 0xBxxx, what DIMSE has for all services, and "duplicate SOP Instance",
    // which some receivers answer where they hold it already
    bool IsHeld(std::uint16_t status)
    {
      return status == 0 || (status & 0xf000) == 0xb000 || status == 0x0001 || status == 0x0107 ||
             status == 0x0111 || status == 0x0116;
    }

    // Why the peer does not hold the instance; empty: it does, as far as that can be seen
    std::string GetReason(const ProbeEvent& event)
    {
      if (!event.isDicom && event.status)
      {
        return *event.status / 100 == 2 ? "" : "the peer answered " + DescribeHttp(event.status);
      }

      if (event.status && !IsHeld(*event.status))
      {
        return SayAnswer("the receiver", *event.status, true) +
               Explain(FAILURES, *event.status, "");
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

    std::string Print(std::string_view text)
    {
      return MakePrintable(std::string(text));
    }

    // "title": what is known otherwise; empty: nothing. TLS hides the title of the peer, which may
    // be named by its address then.
    Peer ToPeer(const ProbeEvent& event, const std::string& title, bool mayBeItsAddress)
    {
      Peer peer = ToPeer(event.request, event.hasParties, event.isPeerRequestor, event.address);
      peer.name = title.empty() ? peer.name : title;
      peer.name = peer.name.empty() && mayBeItsAddress ? peer.address : peer.name;
      return peer;
    }
  }

  AssociationParties ToParties(const AssociateRequest& request)
  {
    return {Print(request.callingTitle.View()), Print(request.calledTitle.View()),
            Print(request.implementationVersionName.View()), request.maximumLength};
  }

  Peer ToPeer(const AssociateRequest& request, bool isReadable, bool isPeerRequestor,
              const PeerAddress& address)
  {
    const auto& title = isPeerRequestor ? request.callingTitle : request.calledTitle;
    return Peer{isReadable ? Print(title.View()) : std::string(),
                address.port == 0 ? std::string() : address.ToString()};
  }

  FinishedInstance ToInstance(const ProbeEvent& event, const std::string& title)
  {
    const bool isSent = event.direction == Direction::Send;
    FinishedInstance instance;
    instance.direction = event.direction;
    instance.origin = event.isDicom ? Origin::DicomProtocol
                      : isSent      ? Origin::RestApi
                                    : Origin::Plugin;
    instance.peer = ToPeer(event, title, isSent || !event.isDicom);
    instance.endedAt = event.endedAt;
    instance.finishedAt = ToSystemTime(instance.endedAt);
    instance.areStallsObserved = event.isDicom || !isSent;
    instance.stalls = event.message.stalls.count;
    instance.stallTime = event.message.stalls.time;
    instance.stallTimeInIdle = event.message.stalls.idle;

    // Of one that Orthanc has refused, that is the message: nobody has seen a file
    instance.size = isSent ? event.bytesSent : event.bytesReceived;

    const auto add = [&instance](Phase phase, const std::optional<Duration>& duration)
    {
      if (duration)
      {
        instance.phases.Add(phase, *duration);
      }
    };

    add(Phase::Idle, event.message.idle);
    add(Phase::Connect, isSent && event.instances == 1 ? event.connect : std::nullopt);
    add(Phase::Associate, isSent && event.instances == 1 ? event.associate : std::nullopt);
    add(isSent ? Phase::Send : Phase::Receive, event.message.lastByte - event.message.firstByte);
    add(isSent ? Phase::Wait : Phase::Parse, event.wait);

    if (isSent)
    {
      instance.reason = GetReason(event);
      instance.outcome = instance.reason.empty() ? Outcome::Stored : Outcome::Failed;
    }
    else if (event.status)
    {
      Verdict verdict = Judge({"", false, event.status, event.isDicom});
      instance.outcome = verdict.outcome;
      instance.reason = std::move(verdict.reason);
    }
    else
    {
      instance.reason = "Orthanc did not answer: it cannot read the data set";
    }

    return instance;
  }

  FinishedAssociation ToAssociation(const ProbeEvent& event, const std::string& title)
  {
    FinishedAssociation association;
    association.direction = event.direction;
    association.outcome = event.outcome;
    association.isAccepted = event.isAccepted;
    association.peer = ToPeer(event, title, event.outcome == AssociationOutcome::Encrypted);
    association.length = event.length;
    association.instances = event.instances;
    association.bytesReceived = event.bytesReceived;
    association.bytesSent = event.bytesSent;
    association.setup = event.setup;
    association.connect = event.direction == Direction::Send ? event.connect : std::nullopt;
    association.tcp = event.tcp;

    if (event.hasParties)
    {
      association.parties = ToParties(event.request);
    }

    if (event.outcome == AssociationOutcome::Rejected)
    {
      association.rejection =
          event.isDicom ? Explain(REJECTIONS, boost::endian::load_big_u16(&event.rejection[2]),
                                  "no reason given")
                        : DescribeHttp(event.status);
    }

    return association;
  }

  FinishedRequest ToRequest(const ProbeEvent& event)
  {
    FinishedRequest request;
    request.route = event.reading->route;
    request.status = event.status;
    request.address = event.address.ToString();
    request.product = Print(event.reading->product.View());
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
    const Duration work =
        event.endedAt - event.message.lastByte - send - event.waits.database - event.waits.storage;
    request.phases = {event.message.idle,
                      event.message.lastByte - event.message.firstByte,
                      ifAny(event.waits.database),
                      ifAny(event.waits.storage),
                      std::max(work, Duration::zero()),
                      send};
    return request;
  }
}
