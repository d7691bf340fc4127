// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Ingest/Journal.h"
#include "Ingest/MessageSource.h"
#include "Network/AskedServers.h"
#include "Network/Connection.h"
#include "Network/Destination.h"
#include "Network/ProbeEvent.h"

#include <atomic>
#include <boost/lockfree/queue.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace OrthancPerf
{
  // Remembers what the probe sees: of each connection the message under way, for the ingest's
  // timelines, and what is over, for the journal: associations, instances that Orthanc has sent,
  // and C-STOREs that it has refused before it asked any plugin. Owned by the plugin's context,
  // outlives the probe.
  //
  // The probe's hooks write, without a lock and without allocating, into the connection that each
  // file descriptor has for good; what is over waits in a bounded queue until Drain takes it up.
  class MessageRecorder : public IMessageSource
  {
  public:
    MessageRecorder();

    // IMessageSource, for connections that Orthanc has accepted
    std::optional<Message> GetCurrentMessage() const override;
    void ClaimMessage() noexcept override;
    Response GetResponse(const MessageId& id) const noexcept override;
    Phase GetStoringPhase(const MessageId& id) const noexcept override;
    void NameRequestor(const std::string& title) noexcept override;
    void BeginStorage(TimePoint now) noexcept override;
    std::optional<StoredFile> TakeStoredFile() noexcept override;
    AskedWork TakeAskedWork() override;

    // Whether the storage area and the index are kept by plugins, which may ask servers: until then
    // nothing that a thread asks is taken for one of them
    void FollowServers(const Served& served) noexcept
    {
      isStorageServed_.store(served.isStorage, std::memory_order_relaxed);
      isDatabaseServed_.store(served.isDatabase, std::memory_order_relaxed);
    }

    // The connection that the calling thread has read last; -1: none that is known
    int GetCurrentConnection() const noexcept;

    // Publishes what is over. Any thread, one at a time.
    void Drain(const Journal& journal, TimePoint now = Clock::now());

    // Where Orthanc's modalities and peers are from now on. Any thread.
    void SetDestinations(std::vector<Destination> destinations);

    // For their ports
    const Destinations& GetDestinations() const
    {
      return destinations_;
    }

    // What was over and found no room in the queue
    std::uint64_t CountDropped() const noexcept;

    ConnectionTable& GetConnections()
    {
      return connections_;
    }

    const ConnectionTable& GetConnections() const
    {
      return connections_;
    }

    // For ConnectionTracker, on the thread that has the connection. The first byte of a request:
    // what came before it is over.
    void BeginMessage(Connection& connection, TimePoint now) noexcept;

    // The request under way only reads, as is known once its header was read
    void BeginReading(const Connection& connection) noexcept;

    // Bytes of a request, the first ones included; the last such call has its last byte
    void AddRequestBytes(Connection& connection, const std::uint8_t* data, std::size_t size,
                         TimePoint now) noexcept;

    // Over an association that the peer has asked for, Orthanc goes on: with a response, or with
    // the next message. What it has sent before is over.
    void BeginAnswer(Connection& connection) noexcept;

    // Bytes of its response; what ends it is the next request, or the close
    void AddResponseBytes(Connection& connection, const std::uint8_t* data, std::size_t size,
                          TimePoint now) noexcept;

    // The thread waited for the next byte of a request or response that has begun; or, before one
    // begins, the kernel held the end of what Orthanc had written back (Nagle's algorithm and the
    // peer's delayed ACK): STALL (20 ms) or longer. Of an accepted connection, the latter is part
    // of "idle" as well. A wait for a message to begin is the peer's otherwise.
    static void AddStall(Connection& connection, Duration waited) noexcept;

    void CloseConnection(Connection& connection, TimePoint now) noexcept;

    // Orthanc has called, and there was no connection, or one to what may be a peer. Drain() tells
    // by the host and the port who it is.
    void AddUnconnected(const Connection& connection, TimePoint now) noexcept;
    void AddConnected(const Connection& connection, TimePoint now) noexcept;
    void AddLookUp(HostHash host, const PeerAddress& address, bool isResolved) noexcept;

  private:
    // 2,048 sent instances or associations between two calls of Drain, half a second apart. What
    // finds no room is dropped. With a fixed capacity, push takes no lock and allocates nothing.
    using Events = boost::lockfree::queue<ProbeEvent, boost::lockfree::capacity<2048>>;

    Connection* FindCurrent() const noexcept;
    void Push(const ProbeEvent& event) noexcept;
    Served GetServed() const noexcept;
    void PublishUncalled(const Journal& journal, const ProbeEvent& event);
    void PublishToPeer(const Journal& journal, const ProbeEvent& event);
    // "outcome": how the association ended; Released while it goes on
    void FinishSubOperation(Connection& connection, AssociationOutcome outcome) noexcept;
    void FinishExchange(Connection& connection, AssociationOutcome outcome) noexcept;
    void FinishRead(Connection& connection, std::int32_t status) noexcept;
    void NoteReading(Connection& connection) noexcept;
    void NoteReadingAnswer(Connection& connection, TimePoint now) noexcept;
    void FinishSent(Connection& connection, AssociationOutcome outcome) noexcept;
    void NoteAnswer(Connection& connection, const std::uint8_t* data, std::size_t size,
                    TimePoint now) noexcept;
    void TellUnanswered(const Connection& connection) noexcept;

    const std::uint64_t id_;
    ConnectionTable connections_;
    const std::unique_ptr<Events> events_;
    std::atomic<std::uint64_t> dropped_{0};
    std::mutex draining_;
    Destinations destinations_;  // under the same lock, but for the ports
    std::atomic<bool> isStorageServed_{false};
    std::atomic<bool> isDatabaseServed_{false};
  };
}
