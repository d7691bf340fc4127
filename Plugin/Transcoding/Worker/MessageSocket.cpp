// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Worker/MessageSocket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>

namespace OrthancPerf
{
  namespace
  {
    using Clock = std::chrono::steady_clock;

    // Whether something is there, be it the end; false when the time is over
    bool WaitReadable(int descriptor, Clock::time_point deadline)
    {
      for (;;)
      {
        constexpr std::int64_t HOUR = 3600000;  // milliseconds: poll(2) knows no more than an int
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        pollfd entry = {descriptor, POLLIN, 0};
        const int count =
            poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, HOUR)));

        if (count > 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
        {
          return true;  // let recv(2) tell
        }

        if (count == 0 && Clock::now() >= deadline)
        {
          return false;
        }
      }
    }
  }


  MessageSocket::MessageSocket(FileDescriptor descriptor) noexcept :
    descriptor_(std::move(descriptor))
  {
  }


  std::pair<FileDescriptor, FileDescriptor> MessageSocket::MakePair()
  {
    std::array<int, 2> ends = {};

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    {
      throw std::system_error(errno, std::generic_category(), "socketpair");
    }

    return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  }


  bool MessageSocket::SendBytes(const void* data, std::size_t size) noexcept
  {
    ssize_t count = 0;

    do
    {
      count = send(descriptor_.Get(), data, size, MSG_NOSIGNAL);
    } while (count < 0 && errno == EINTR);

    return count == static_cast<ssize_t>(size);
  }


  MessageSocket::Receipt MessageSocket::ReceiveBytes(void* data, std::size_t size,
                                                     std::chrono::milliseconds limit) noexcept
  {
    if (!WaitReadable(descriptor_.Get(), Clock::now() + limit))
    {
      return Receipt::TimedOut;
    }

    ssize_t count = 0;

    do
    {
      // MSG_TRUNC: the true length of a packet that is too long
      count = recv(descriptor_.Get(), data, size, MSG_TRUNC);
    } while (count < 0 && errno == EINTR);

    return count == static_cast<ssize_t>(size) ? Receipt::Received : Receipt::Closed;
  }


  bool MessageSocket::IsOpen() const noexcept
  {
    char byte = 0;
    return recv(descriptor_.Get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EINTR);
  }


  void MessageSocket::Interrupt() noexcept
  {
    shutdown(descriptor_.Get(), SHUT_RDWR);
  }
}
