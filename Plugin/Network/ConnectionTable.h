// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/Connection.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace OrthancPerf
{
  // The watched connections by file descriptor: an array, so that a hook knows at once whether a
  // descriptor is watched. Descriptors beyond its end are never watched. Takes no lock; owned by
  // the probe. A descriptor is opened and closed by the thread that has it; any thread may look.
  class ConnectionTable
  {
  public:
    // What the array holds unless told otherwise: a multiple of the 1024 descriptors that a
    // process has by default (getrlimit(2)), in about 2.5 MB of memory
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

    // A connection as another thread sees it
    struct Summary
    {
      int fd = -1;
      std::uint32_t generation = 0;
      ConnectionKind kind = ConnectionKind::None;
      bool isEncrypted = false;
      PeerAddress peer;
      TimePoint openedAt;
      std::uint64_t bytesRead = 0;
      std::uint64_t bytesWritten = 0;
    };

    // All DICOM connections that are open
    std::vector<Summary> GetOpen() const;

    // Whether it is still the same connection: its descriptor was not closed meanwhile
    bool IsOpen(const Summary& summary) const noexcept;

  private:
    const std::size_t capacity_;
    const std::unique_ptr<Connection[]> connections_;
  };
}
