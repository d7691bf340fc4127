// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Sockets/SendQueue.h"

#include "Network/Sockets/TcpInfo.h"
#include "Redirection/ErrnoKeeper.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace OrthancPerf
{
  namespace
  {
    // Bytes: SIOCOUTQ, SIOCOUTQNSD (tcp(7), linux/sockios.h); nothing: not told
    std::optional<std::uint32_t> Count(int fd, unsigned long request) noexcept
    {
      int bytes = 0;

      if (ioctl(fd, request, &bytes) != 0 || bytes < 0)
      {
        return std::nullopt;
      }

      return static_cast<std::uint32_t>(bytes);
    }

    bool IsNagleOn(int fd) noexcept
    {
      int noDelay = 0;
      socklen_t size = sizeof(noDelay);
      return getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &noDelay, &size) == 0 && noDelay == 0;
    }

    bool IsHeldBack(int fd, std::uint32_t unsent, const TcpSummary& info) noexcept
    {
      const std::optional<std::uint32_t> unacknowledged = Count(fd, SIOCOUTQ);  // unsent included
      return unacknowledged && *unacknowledged > unsent && unsent < info.sendMss &&
             info.unacknowledged < info.congestionWindow &&
             *unacknowledged <= info.sendWindow.value_or(*unacknowledged) && IsNagleOn(fd);
    }
  }


  std::optional<SendQueue> ReadSendQueue(int fd) noexcept
  {
    const ErrnoKeeper keeper;
    const std::optional<std::uint32_t> unsent = Count(fd, SIOCOUTQNSD);
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
