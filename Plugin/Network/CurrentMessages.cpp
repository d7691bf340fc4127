// SPDX-License-Identifier: GPL-3.0-or-later
// The part of ConnectionTracker that answers the ingest, on the thread that asks
#include "Network/ConnectionTracker.h"
#include "Network/GatheredFile.h"
#include "Network/Sockets/SocketTuning.h"
#include "Network/Sockets/TcpInfo.h"
#include "Network/WrittenFiles.h"

#include <algorithm>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr auto RELAXED = std::memory_order_relaxed;

    // What a thread of Orthanc works at. Laid out with the thread itself (initial-exec), as the
    // first access to other thread-local storage of a plugin allocates.
    struct ThreadWork
    {
      Connection* connection;
      std::uint64_t serial;  // of the message: its connection may be closed, and another one there
    };

    __attribute__((tls_model("initial-exec"))) thread_local ThreadWork work = {};

    OpenAssociation Describe(const Connection& connection, TimePoint now)
    {
      const bool hasParties = connection.hasParties.load(std::memory_order_acquire);
      OpenAssociation association;
      association.direction = connection.IsOutgoing() ? Direction::Send : Direction::Receive;
      association.isAccepted = connection.isAccepted.load(RELAXED);
      association.parties = hasParties ? ToParties(connection.request) : AssociationParties();
      association.peer = ToPeer(connection.request, hasParties, !connection.IsOutgoing(),
                                PeerAddress::From(connection.fd, &getpeername));

      if (connection.IsEncrypted() && association.peer.name.empty())
      {
        association.peer.name = association.peer.address;
      }

      // It may be opened since "now"
      association.age = std::max(now - connection.openedAt.load(RELAXED), Duration::zero());
      association.bytesReceived = connection.bytesRead.load(RELAXED);
      association.bytesSent = connection.bytesWritten.load(RELAXED);
      association.unread = CountBytes(connection.fd, SIOCINQ);
      association.tcp = ReadTcpInfo(connection.fd);
      association.options = ReadSocketOptions(connection.fd);
      return association;
    }
  }

  ConnectionTracker::ConnectionTracker()
  {
    work = {};  // of an earlier tracker
  }

  std::optional<Message> ConnectionTracker::GetCurrentMessage() const
  {
    const Connection* const connection = FindCurrent();

    if (connection == nullptr)
    {
      return std::nullopt;
    }

    Message message;
    static_cast<MessageTimes&>(message) = connection->message;
    message.id.connection = static_cast<std::uint32_t>(connection->fd);
    message.id.serial = connection->serial.load(RELAXED);
    message.isDicom = connection->IsDicom();
    message.peer =
        ToPeer(connection->request, connection->hasParties.load(RELAXED), true, connection->peer);
    return message;
  }

  int ConnectionTracker::GetCurrentConnection() const noexcept
  {
    const Connection* const connection = FindCurrent();
    return connection == nullptr ? -1 : connection->fd;
  }

  // Null: there is none, or it is closed. What the thread reads now may come over one whose
  // descriptor is beyond those that are watched.
  Connection* ConnectionTracker::FindCurrent() const noexcept
  {
    const bool isOpen = work.connection != nullptr &&
                        work.connection->closedSerial.load(std::memory_order_acquire) < work.serial;
    return isOpen ? work.connection : nullptr;
  }

  Response ConnectionTracker::GetResponse(const MessageId& id) const noexcept
  {
    const Connection& connection = table.At(id.connection);
    const RememberedResponse& answer = connection.GetResponse(id.serial);
    const TimePoint response = answer.lastByte.load(std::memory_order_acquire);
    const std::int32_t status = answer.status.load(RELAXED);
    const bool isClosed = connection.closedSerial.load(std::memory_order_acquire) >= id.serial;

    // Read after the response: if it is still remembered now, it was that message's
    if (connection.serial.load(std::memory_order_acquire) - id.serial >= REMEMBERED_RESPONSES)
    {
      return {Response::State::Gone};
    }

    if (response != TimePoint())
    {
      return {Response::State::Written, response, isClosed,
              status < 0 ? std::nullopt : std::make_optional(static_cast<std::uint16_t>(status))};
    }

    return {isClosed ? Response::State::Gone : Response::State::Pending};
  }

  void ConnectionTracker::ClaimMessage() noexcept
  {
    if (Connection* const connection = FindCurrent())
    {
      connection->claimedSerial = work.serial;
      connection->isAccepted.store(true, RELAXED);
    }
  }

  Phase ConnectionTracker::GetStoringPhase(const MessageId& id) const noexcept
  {
    if (table.At(id.connection).isFileClosed.load(RELAXED))
    {
      return Phase::Index;
    }

    return served.load(RELAXED).isStorage ? Phase::Commit : Phase::Storage;
  }

  void ConnectionTracker::NameRequestor(const std::string& title) noexcept
  {
    Connection* const connection = FindCurrent();

    if (connection != nullptr && connection->IsDicom() && !connection->hasParties.load(RELAXED))
    {
      connection->request = AssociateRequest();
      connection->request.callingTitle.Assign(title);
      connection->hasParties.store(true, std::memory_order_release);
    }
  }

  void ConnectionTracker::BeginStorage(TimePoint now, std::size_t size) noexcept
  {
    GatheredFile::OfThisThread().Expect(size);
    Connection* const connection = FindCurrent();
    WrittenFiles::OfThisThread().Begin(connection == nullptr ? nullptr : &connection->isFileClosed);

    if (const Served by = served.load(RELAXED); by.isStorage || by.isDatabase)
    {
      AskedServers::OfThisThread().Begin(by, now);
    }
  }

  StorageWork ConnectionTracker::TakeStorageWork()
  {
    GatheredFile::OfThisThread().Expect(0);
    StorageWork work = AskedServers::OfThisThread().Take();
    work.file = WrittenFiles::OfThisThread().Take();
    return work;
  }

  void ConnectionTracker::SetCurrent(Connection* connection) noexcept
  {
    work.connection = connection;
    work.serial = connection == nullptr ? 0 : connection->serial.load(RELAXED);
  }

  std::vector<OpenAssociation> ConnectionTracker::ListOpen(TimePoint now) const
  {
    std::vector<OpenAssociation> all;

    for (std::size_t i = 0; i < ConnectionTable::CAPACITY; i++)
    {
      const Connection& connection = table.At(i);
      const ConnectionKind kind = connection.kind.load(std::memory_order_acquire);
      const TimePoint openedAt = connection.openedAt.load(RELAXED);

      if (!IsDicom(kind))
      {
        continue;
      }

      OpenAssociation open = Describe(connection, now);

      // Else its descriptor may be another connection's by now
      if (connection.kind.load(std::memory_order_acquire) == kind &&
          connection.openedAt.load(RELAXED) == openedAt)
      {
        all.push_back(std::move(open));
      }
    }

    return all;
  }
}
