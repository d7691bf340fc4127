// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Network/Connection.h"
#include "Network/Destination.h"

#include <atomic>
#include <boost/lockfree/queue.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace OrthancPerf
{
  // What the hooks put into the queue: it owns nothing. Times and sizes as in what the journal
  // gets.
  struct ProbeEvent
  {
    enum class Kind : std::uint8_t
    {
      Association,  // is over
      Instance,     // Orthanc has sent it, or has refused it before it asked this plugin
      Request,      // that reads, and was answered
      FailedCall,   // an association or connection that Orthanc wanted in vain
      Connected,    // a call to a peer, so far
      Resolved      // a host has this address
    };

    Kind kind = Kind::Instance;
    bool isDicom = true;           // false: over HTTP
    bool isPeerRequestor = false;  // the peer asked for the association, not Orthanc
    bool hasParties = false;
    bool isAccepted = false;  // see FinishedAssociation
    Direction direction = Direction::Send;
    AssociationOutcome outcome = AssociationOutcome::Released;
    AssociateRequest request;
    PeerAddress address;
    HostHash host = 0;         // that was called
    std::uint64_t thread = 0;  // that has called, as the next one
    TimePoint begunAt;
    TimePoint endedAt;
    Duration length = Duration::zero();
    std::optional<Duration> setup;
    std::optional<Duration> connect;
    std::optional<Duration> associate;
    MessageTimes message;
    std::optional<Duration> wait;           // for the response
    std::optional<std::uint16_t> status;    // of DIMSE or HTTP
    std::optional<ReadingRequest> reading;  // a request that reads
    ReadWaits waits;                        // of it
    std::uint32_t instances = 0;
    std::uint64_t bytesReceived = 0;
    std::uint64_t bytesSent = 0;
    std::optional<TcpSummary> tcp;
    PduBody rejection = {};  // the A-ASSOCIATE-RJ
  };


  // Who asks for the association, made printable
  AssociationParties ToParties(const AssociateRequest& request);

  // The other end: it has called, or it was called. Without a name unless the request is readable.
  Peer ToPeer(const AssociateRequest& request, bool isReadable, bool isPeerRequestor,
              const PeerAddress& address);


  // What is over waits here until Drain() tells the journal. Owned by MessageRecorder.
  class EventQueue
  {
  public:
    EventQueue();

    // Any thread. Takes no lock, allocates nothing: what finds no room is dropped.
    void Push(const ProbeEvent& event) noexcept;

    std::uint64_t CountDropped() const noexcept
    {
      return dropped_.load(std::memory_order_relaxed);
    }

    // Any thread
    void Drain(const Journal& journal, TimePoint now = Clock::now());

    // Where Orthanc's modalities and peers are from now on. Any thread.
    void SetDestinations(std::vector<Destination> destinations);

    // For their ports
    const Destinations& GetDestinations() const
    {
      return destinations_;
    }

  private:
    // 2,048 events between two calls of Drain, half a second apart
    using Events = boost::lockfree::queue<ProbeEvent, boost::lockfree::capacity<2048>>;

    void Publish(const Journal& journal, const ProbeEvent& event);
    void PublishFailedCall(const Journal& journal, const ProbeEvent& event);

    const std::unique_ptr<Events> events_;
    std::atomic<std::uint64_t> dropped_{0};
    std::mutex draining_;
    Destinations destinations_;  // under this lock, but for the ports
  };
}
