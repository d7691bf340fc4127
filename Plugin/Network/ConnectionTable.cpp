// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/ConnectionTable.h"

namespace OrthancPerf
{
  namespace
  {
    constexpr auto RELAXED = std::memory_order_relaxed;
  }

  ConnectionTable::ConnectionTable(std::size_t capacity) :
    capacity_(capacity),
    connections_(std::make_unique<Connection[]>(capacity))
  {
  }

  Connection* ConnectionTable::Open(int fd, ConnectionKind kind, const PeerAddress& peer,
                                    TimePoint now) noexcept
  {
    const auto index = static_cast<std::size_t>(fd);

    if (index >= capacity_)
    {
      return nullptr;
    }

    const std::int64_t time = now.time_since_epoch().count();

    // The kernel gave the descriptor away only after Close(): what was written until then is seen.
    Connection& connection = connections_[index];
    (void)connection.kind.load(std::memory_order_acquire);
    connection.fd = fd;
    connection.generation.fetch_add(1, RELAXED);
    connection.openedAt.store(time, RELAXED);
    connection.connectedAt.store(kind == ConnectionKind::OutgoingCandidate ? 0 : time, RELAXED);
    connection.lastResponseAt.store(0, RELAXED);
    connection.bytesRead.store(0, RELAXED);
    connection.bytesWritten.store(0, RELAXED);
    connection.isEncrypted.store(false, RELAXED);
    connection.peer.Store(peer);
    connection.settingsRevision.store(0, RELAXED);
    static_cast<ConnectionProgress&>(connection) = {};
    connection.kind.store(kind, std::memory_order_release);
    return &connection;
  }

  void ConnectionTable::Close(Connection& connection) noexcept
  {
    connection.kind.store(ConnectionKind::None, std::memory_order_release);
  }

  void ConnectionTable::Clear() noexcept
  {
    for (std::size_t i = 0; i < capacity_; i++)
    {
      Close(connections_[i]);
    }
  }

  std::vector<ConnectionTable::Summary> ConnectionTable::GetOpen() const
  {
    std::vector<Summary> open;

    for (std::size_t i = 0; i < capacity_; i++)
    {
      const Connection& connection = connections_[i];
      const ConnectionKind kind = connection.kind.load(std::memory_order_acquire);

      if (IsDicom(kind))
      {
        Summary summary;
        summary.fd = static_cast<int>(i);
        summary.generation = connection.generation.load(RELAXED);
        summary.kind = kind;
        summary.isEncrypted = connection.isEncrypted.load(RELAXED);
        summary.peer = connection.peer.Load();
        summary.openedAt = TimePoint(Clock::duration(connection.openedAt.load(RELAXED)));
        summary.bytesRead = connection.bytesRead.load(RELAXED);
        summary.bytesWritten = connection.bytesWritten.load(RELAXED);
        open.push_back(summary);
      }
    }

    return open;
  }

  bool ConnectionTable::IsOpen(const Summary& summary) const noexcept
  {
    const Connection& connection = connections_[static_cast<std::size_t>(summary.fd)];
    return connection.kind.load(std::memory_order_acquire) == summary.kind &&
           connection.generation.load(RELAXED) == summary.generation;
  }
}
