// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"

#include <cstdint>
#include <optional>

namespace OrthancPerf
{
  // An option that is a number (getsockopt(2)); nothing, and errno is set: the socket has none
  std::optional<int> GetSocketOption(int fd, int level, int option) noexcept;

  // Bytes in a queue: SIOCINQ, SIOCOUTQ, SIOCOUTQNSD (tcp(7), linux/sockios.h); nothing: not told
  std::optional<std::uint32_t> CountBytes(int fd, unsigned long request) noexcept;

  // Nothing if the descriptor is no TCP socket. Allocates nothing, keeps errno, any thread.
  std::optional<TcpSummary> ReadTcpInfo(int fd) noexcept;

  // What became of the last bytes that were written on a TCP connection, by the kernel's own
  // account
  struct SendQueue
  {
    enum class State : std::uint8_t
    {
      Sent,     // they have left
      Leaving,  // they wait for the peer's window, the congestion window, or their turn
      HeldBack  // Nagle's algorithm (RFC 896) holds them back until the peer acknowledges
    };

    State state = State::Sent;
    Duration sinceSent = Duration::zero();  // since data left last
  };

  // Nothing if the kernel does not tell. HeldBack is said only where nothing else can be the
  // reason: less than a segment is left, windows have room for it, earlier data is not
  // acknowledged, and TCP_NODELAY is off. Two system calls where all is sent, four at the most.
  // Allocates nothing, keeps errno, any thread.
  std::optional<SendQueue> ReadSendQueue(int fd) noexcept;
}
