// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Ingest/EventRing.h"
#include "Ingest/Journal.h"
#include "Ingest/MessageSource.h"
#include "Network/AskedServers.h"
#include "Network/ConnectionTable.h"
#include "Network/IConnectionObserver.h"
#include "Network/MessagePlace.h"
#include "Network/ProbeEvent.h"

#include <atomic>
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
  // The probe's hooks write, without a lock and without allocating, into a place that each file
  // descriptor of a ConnectionTable has for good; what is over waits in a bounded queue until Drain
  // takes it up.
  class MessageRecorder : public IConnectionObserver, public IMessageSource
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
    void Drain(const Journal& journal);

    // What was over and found no room in the queue
    std::uint64_t CountDropped() const noexcept;

    // Whether the association of this watched connection is accepted, as in FinishedAssociation
    bool IsAccepted(int fd) const noexcept;

    // Who has the association of this watched connection, as far as it is readable
    AssociationParties GetParties(int fd) const;

    // IConnectionObserver
    void OnOpened(Connection& connection, TimePoint now) noexcept override;
    void OnAssociateRequest(Connection& connection, const AssociateRequest& request,
                            TimePoint now) noexcept override;
    void OnAssociateAnswer(Connection& connection, bool isAccepted,
                           TimePoint now) noexcept override;
    void OnClosed(Connection& connection, AssociationOutcome outcome,
                  TimePoint now) noexcept override;
    void OnRequestBegins(Connection& connection, TimePoint now) noexcept override;
    void OnRequestBytes(Connection& connection, const std::uint8_t* data, std::size_t size,
                        TimePoint now) noexcept override;
    void OnResponseBytes(Connection& connection, const std::uint8_t* data, std::size_t size,
                         TimePoint now) noexcept override;
    void OnStall(Connection& connection, Duration waited, TimePoint now) noexcept override;

  private:
    // 2,048 sent instances or associations between two calls of Drain, half a second apart
    using Events = EventRing<ProbeEvent, 2048>;

    MessagePlace& GetPlace(const Connection& connection) noexcept;
    const MessagePlace* FindCurrentPlace() const noexcept;
    // "outcome": how the association ended; Released while it goes on
    void FinishSubOperation(const Connection& connection, MessagePlace& place,
                            AssociationOutcome outcome) noexcept;
    void FinishExchange(const Connection& connection, MessagePlace& place,
                        AssociationOutcome outcome) noexcept;
    void NoteAnswer(const Connection& connection, MessagePlace& place, const std::uint8_t* data,
                    std::size_t size, TimePoint now) noexcept;
    void TellUnanswered(const Connection& connection, const MessagePlace& place) noexcept;
    static ProbeEvent MakeEvent(const Connection& connection, const MessagePlace& place) noexcept;

    const std::uint64_t id_;
    const std::unique_ptr<MessagePlace[]> places_;
    const std::unique_ptr<Events> events_;
    std::mutex draining_;
    std::atomic<bool> isStorageServed_{false};
    std::atomic<bool> isDatabaseServed_{false};
  };
}
