// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Sockets/TcpInfo.h"

#include "Redirection/ErrnoKeeper.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// After netinet/in.h, and instead of netinet/tcp.h, whose older struct has the same name
#include <linux/tcp.h>

namespace OrthancPerf
{
  namespace
  {
    // Offset of tcpi_rcv_wnd, which the kernel headers of Debian 12 don't have: it follows
    // tcpi_snd_wnd since Linux 6.2 (include/uapi/linux/tcp.h). In an older struct it is padding;
    // tcpi_rehash, of the same release, tells them apart.
    constexpr std::size_t RECEIVE_WINDOW = offsetof(tcp_info, tcpi_snd_wnd) + sizeof(std::uint32_t);

    // What the kernel filled in: no more than its own struct, no more than this
    struct RawInfo
    {
      alignas(tcp_info) std::array<unsigned char, 512> bytes = {};
      socklen_t size = 0;

      template <typename T>
      std::optional<T> Get(std::size_t offset) const
      {
        if (offset + sizeof(T) > size)
        {
          return std::nullopt;
        }

        T value = {};
        std::memcpy(&value, bytes.data() + offset, sizeof(T));
        return value;
      }

      template <typename T>
      std::optional<Duration> GetMicroseconds(std::size_t offset) const
      {
        const std::optional<T> value = Get<T>(offset);
        return value ? std::make_optional<Duration>(std::chrono::microseconds(*value))
                     : std::nullopt;
      }
    };

    bool IsHeldBack(int fd, std::uint32_t unsent, const TcpSummary& info) noexcept
    {
      const std::optional<std::uint32_t> unacknowledged =
          CountBytes(fd, SIOCOUTQ);  // unsent included
      return unacknowledged && *unacknowledged > unsent && unsent < info.sendMss &&
             info.unacknowledged < info.congestionWindow &&
             *unacknowledged <= info.sendWindow.value_or(*unacknowledged) &&
             GetSocketOption(fd, IPPROTO_TCP, TCP_NODELAY) == 0;
    }
  }

  std::optional<int> GetSocketOption(int fd, int level, int option) noexcept
  {
    int value = 0;
    socklen_t size = sizeof(value);
    const bool isThere = getsockopt(fd, level, option, &value, &size) == 0;
    return isThere && size == sizeof(value) ? std::make_optional(value) : std::nullopt;
  }

  std::optional<std::uint32_t> CountBytes(int fd, unsigned long request) noexcept
  {
    int bytes = 0;
    return ioctl(fd, request, &bytes) == 0 && bytes >= 0 ? std::make_optional<std::uint32_t>(bytes)
                                                         : std::nullopt;
  }

  std::optional<TcpSummary> ReadTcpInfo(int fd) noexcept
  {
    using U32 = std::uint32_t;
    using U64 = std::uint64_t;

    const ErrnoKeeper keeper;
    RawInfo raw;
    raw.size = raw.bytes.size();

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, raw.bytes.data(), &raw.size) != 0)
    {
      return std::nullopt;
    }

    const auto get32 = [&raw](std::size_t offset)
    {
      return raw.Get<U32>(offset).value_or(0);
    };

    TcpSummary info;
    info.roundTrip = std::chrono::microseconds(get32(offsetof(tcp_info, tcpi_rtt)));
    info.sendMss = get32(offsetof(tcp_info, tcpi_snd_mss));
    info.receiveMss = get32(offsetof(tcp_info, tcpi_rcv_mss));
    info.congestionWindow = get32(offsetof(tcp_info, tcpi_snd_cwnd));
    info.unacknowledged = get32(offsetof(tcp_info, tcpi_unacked));
    info.retransmits = get32(offsetof(tcp_info, tcpi_total_retrans));
    info.sinceDataSent = std::chrono::milliseconds(get32(offsetof(tcp_info, tcpi_last_data_sent)));
    info.minimumRoundTrip = raw.GetMicroseconds<U32>(offsetof(tcp_info, tcpi_min_rtt));
    info.busy = raw.GetMicroseconds<U64>(offsetof(tcp_info, tcpi_busy_time));
    info.receiveWindowLimited = raw.GetMicroseconds<U64>(offsetof(tcp_info, tcpi_rwnd_limited));
    info.sendBufferLimited = raw.GetMicroseconds<U64>(offsetof(tcp_info, tcpi_sndbuf_limited));
    info.sendWindow = raw.Get<U32>(offsetof(tcp_info, tcpi_snd_wnd));

    if (raw.Get<U32>(RECEIVE_WINDOW + sizeof(U32)))
    {
      info.receiveWindow = raw.Get<U32>(RECEIVE_WINDOW);
    }

    return info;
  }

  std::optional<SendQueue> ReadSendQueue(int fd) noexcept
  {
    const ErrnoKeeper keeper;
    const std::optional<std::uint32_t> unsent = CountBytes(fd, SIOCOUTQNSD);
    const std::optional<TcpSummary> info = unsent ? ReadTcpInfo(fd) : std::nullopt;

    if (!info)
    {
      return std::nullopt;
    }

    SendQueue queue;
    queue.sinceSent = info->sinceDataSent;

    if (*unsent != 0)
    {
      queue.state =
          IsHeldBack(fd, *unsent, *info) ? SendQueue::State::HeldBack : SendQueue::State::Leaving;
    }

    return queue;
  }
}
