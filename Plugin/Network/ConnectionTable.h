// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/Connection.h"

#include <cstddef>
#include <memory>

namespace OrthancPerf
{
  // The watched connections by file descriptor: an array, so that a hook knows at once whether a
  // descriptor is watched. Descriptors beyond its end are never watched. Takes no lock; owned by
  // MessageRecorder. A descriptor is opened and closed by the thread that has it; any thread may
  // look.
  class ConnectionTable
  {
  public:
    // What the array holds unless told otherwise: a multiple of the 1024 descriptors that a
    // process has by default (getrlimit(2)), in about 5 MB of memory
    static constexpr std::size_t DEFAULT_CAPACITY = 4096;

    explicit ConnectionTable(std::size_t capacity = DEFAULT_CAPACITY);

    // Null if the descriptor is not watched
    Connection* Find(int fd) noexcept
    {
      const auto index = static_cast<std::size_t>(fd);  // negative: beyond the end

      if (index >= capacity_ ||
          connections_[index].kind.load(std::memory_order_acquire) == ConnectionKind::None)
      {
        return nullptr;
      }

      return &connections_[index];
    }

    // Watches the descriptor from now on; null if it is beyond the end. What was known of the
    // descriptor before is forgotten.
    Connection* Open(int fd, ConnectionKind kind, const PeerAddress& peer, TimePoint now) noexcept;

    void Close(Connection& connection) noexcept;

    // Forgets all; while no hook uses the table
    void Clear() noexcept;

    // All places, watched or not, for a look by any thread
    const Connection& At(std::size_t fd) const noexcept
    {
      return connections_[fd];
    }

    std::size_t GetCapacity() const noexcept
    {
      return capacity_;
    }

  private:
    const std::size_t capacity_;
    const std::unique_ptr<Connection[]> connections_;
  };
}
