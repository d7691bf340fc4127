// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Connection.h"

namespace OrthancPerf
{
  namespace
  {
    constexpr auto RELAXED = std::memory_order_relaxed;
  }

  ConnectionTable::ConnectionTable() : connections_(std::make_unique<Connection[]>(CAPACITY))
  {
    for (std::size_t i = 0; i < CAPACITY; i++)
    {
      connections_[i].fd = static_cast<int>(i);
    }
  }

  Connection* ConnectionTable::Open(int fd, ConnectionKind kind, const PeerAddress& peer,
                                    TimePoint now) noexcept
  {
    const auto index = static_cast<std::size_t>(fd);

    if (index >= CAPACITY)
    {
      return nullptr;
    }

    // The kernel gave the descriptor away only after Close(): what was written until then is seen.
    Connection& connection = connections_[index];
    (void)connection.kind.load(std::memory_order_acquire);
    connection.openedAt.store(now, RELAXED);
    connection.bytesRead.store(0, RELAXED);
    connection.bytesWritten.store(0, RELAXED);
    connection.isEncrypted.store(false, RELAXED);
    connection.peer.Store(peer);
    connection.settingsRevision.store(0, RELAXED);
    connection.hasParties.store(false, RELAXED);
    connection.isAccepted.store(false, RELAXED);
    static_cast<ConnectionProgress&>(connection) = {};
    connection.kind.store(kind, std::memory_order_release);
    return &connection;
  }

  void ConnectionTable::Clear() noexcept
  {
    for (std::size_t i = 0; i < CAPACITY; i++)
    {
      Close(connections_[i]);
    }
  }
}
