// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/MessageSource.h"
#include "Network/AskedServers.h"
#include "Network/Connection.h"
#include "Network/EventQueue.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

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
      served_.store(served, std::memory_order_relaxed);
    }

    // The connection that the calling thread has read last; -1: none that is known
    int GetCurrentConnection() const noexcept;

    EventQueue& GetEvents()
    {
      return events_;
    }

    const EventQueue& GetEvents() const
    {
      return events_;
    }

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

  private:
    Connection* FindCurrent() const noexcept;
    void NoteReading(Connection& connection) noexcept;
    void NoteReadingAnswer(Connection& connection, TimePoint now) noexcept;
    void NoteDimseAnswer(Connection& connection, TimePoint now) noexcept;

    const std::uint64_t id_;
    ConnectionTable connections_;
    EventQueue events_;
    std::atomic<Served> served_{Served()};
  };
}
