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
#include <vector>

namespace OrthancPerf
{
  // What the probe's hooks have seen, for the ingest's timelines: the message that a thread has
  // read last, and its response. ConnectionTracker writes into the connection that each file
  // descriptor has for good, and into the queue of what is over. Owned by the plugin's context,
  // outlives the probe.
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
    void BeginStorage(TimePoint now, std::size_t size) noexcept override;
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

    // For ConnectionTracker: the calling thread has read from this connection; null: it has sent
    void SetCurrent(Connection* connection) noexcept;

    // The request under way only reads, as is known once its header was read
    void BeginReading(const Connection& connection) noexcept;

  private:
    Connection* FindCurrent() const noexcept;

    const std::uint64_t id_;
    ConnectionTable connections_;
    EventQueue events_;
    std::atomic<Served> served_{Served()};
  };


  // All DICOM connections that are open now. Any thread; what closes meanwhile is left out.
  std::vector<OpenAssociation> GetOpenAssociations(const MessageRecorder& recorder, TimePoint now);
}
