// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Ingest/Clock.h"

#include <cstdint>
#include <optional>

namespace OrthancPerf
{
  // What the kernel says of a TCP connection (tcp(7), TCP_INFO; the struct of linux/tcp.h). A
  // kernel that is older than a field leaves it absent.
  struct TcpInfo
  {
    Duration roundTrip = Duration::zero();  // smoothed
    std::uint32_t sendMss = 0;              // bytes
    std::uint32_t receiveMss = 0;
    std::uint32_t congestionWindow = 0;         // segments of sendMss
    std::uint32_t unacknowledged = 0;           // segments under way
    std::uint32_t retransmits = 0;              // segments, in all
    Duration sinceDataSent = Duration::zero();  // as exact as the kernel's ticks, 1 to 10 ms

    std::optional<Duration> minimumRoundTrip;      // Linux 4.6
    std::optional<Duration> busy;                  // time with data to send (Linux 4.9)
    std::optional<Duration> receiveWindowLimited;  // of it, held back by the peer's window
    std::optional<Duration> sendBufferLimited;     // of it, held back by our own buffer
    std::optional<std::uint32_t> sendWindow;       // the peer's window, bytes (Linux 5.4)
    std::optional<std::uint32_t> receiveWindow;    // ours, bytes (Linux 6.2)
  };

  // Nothing if the descriptor is no TCP socket. Allocates nothing, keeps errno, any thread.
  std::optional<TcpInfo> ReadTcpInfo(int fd) noexcept;

  // What is of use beyond the socket's lifetime
  TcpSummary Summarize(const TcpInfo& info);
}
