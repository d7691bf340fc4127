// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Sockets/SocketTuning.h"

#include "Network/Sockets/PeerAddress.h"
#include "Redirection/ErrnoKeeper.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace OrthancPerf
{
  namespace
  {
    // include/uapi/asm-generic/socket.h and include/uapi/linux/socket.h; Debian 12's glibc does
    // not have them all
    constexpr int BUFFER_LOCK = 72;           // SO_BUF_LOCK
    constexpr int SEND_BUFFER_LOCKED = 1;     // SOCK_SNDBUF_LOCK
    constexpr int RECEIVE_BUFFER_LOCKED = 2;  // SOCK_RCVBUF_LOCK

    int SetOption(int fd, int level, int option, int value) noexcept
    {
      return setsockopt(fd, level, option, &value, sizeof(value)) == 0 ? 0 : errno;
    }

    std::optional<int> GetOption(int fd, int level, int option) noexcept
    {
      int value = 0;
      socklen_t size = sizeof(value);

      if (getsockopt(fd, level, option, &value, &size) != 0 || size != sizeof(value))
      {
        return std::nullopt;
      }

      return value;
    }

    // A receive window to go on from when autotuning is switched on again: enough for 100 Mb/s
    // over a path of 80 ms
    constexpr int RESUMED_WINDOW = 1 << 20;

    // Autotuning grows a receive buffer only when more was read within one round trip than ever
    // before (tcp_rcv_space_adjust() of the kernel), which a window that was fixed and small never
    // lets happen. SO_RCVLOWAT lifts the buffer and the window's clamp, without fixing them
    // (tcp_set_rcvlowat() of the kernel); then it is put back.
    void ResumeReceiveWindow(int fd) noexcept
    {
      const int before = GetOption(fd, SOL_SOCKET, SO_RCVLOWAT).value_or(1);
      SetOption(fd, SOL_SOCKET, SO_RCVLOWAT, RESUMED_WINDOW);
      SetOption(fd, SOL_SOCKET, SO_RCVLOWAT, before);
    }

    int Unlock(int fd, int lock) noexcept
    {
      const std::optional<int> locks = GetOption(fd, SOL_SOCKET, BUFFER_LOCK);

      if (!locks)
      {
        return errno;
      }

      if ((*locks & lock) == 0)
      {
        return 0;
      }

      const int error = SetOption(fd, SOL_SOCKET, BUFFER_LOCK, *locks & ~lock);

      if (error == 0 && lock == RECEIVE_BUFFER_LOCKED)
      {
        ResumeReceiveWindow(fd);
      }

      return error;
    }

    int ApplyBuffer(int fd, int option, int lock, const SocketBuffer& setting) noexcept
    {
      switch (setting.mode)
      {
        case SocketBuffer::Mode::Automatic:
          return Unlock(fd, lock);
        case SocketBuffer::Mode::Fixed:
          return SetOption(fd, SOL_SOCKET, option, static_cast<int>(setting.bytes));
        case SocketBuffer::Mode::Default:
          break;
      }

      return 0;
    }

    int ApplyKeepAlive(int fd, std::chrono::seconds interval) noexcept
    {
      const int seconds = static_cast<int>(interval.count());

      if (seconds == 0)
      {
        return SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 0);
      }

      int error = SetOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
      error = (error == 0 ? SetOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, seconds) : error);
      return error == 0 ? SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1) : error;
    }

    CongestionControlName GetCongestionControl(int fd) noexcept
    {
      CongestionControlName name = {};
      socklen_t size = name.size() - 1;
      return getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) == 0
                 ? name
                 : CongestionControlName();
    }

    int ApplyCongestionControl(int fd, const char* name, CongestionControlName& former) noexcept
    {
      const bool isGivenBack = *name == 0;
      const char* const wanted = isGivenBack ? former.data() : name;
      const CongestionControlName current = GetCongestionControl(fd);

      // Setting the one in force would restart it
      if (*wanted == 0 || std::strcmp(current.data(), wanted) == 0)
      {
        return 0;
      }

      if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, wanted,
                     static_cast<socklen_t>(std::strlen(wanted))) != 0)
      {
        return errno;
      }

      if (isGivenBack || former.front() == 0)
      {
        former = isGivenBack ? CongestionControlName() : current;
      }

      return 0;
    }

    std::optional<std::uint32_t> ToUnsigned(const std::optional<int>& value, int unit = 1)
    {
      if (!value || *value < 0)
      {
        return std::nullopt;
      }

      return static_cast<std::uint32_t>(*value / unit);
    }

    bool IsListening(int fd)
    {
      int isListening = 0;
      socklen_t size = sizeof(isListening);
      return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0 &&
             isListening != 0;
    }

    std::uint16_t GetLocalPort(int fd)
    {
      sockaddr_storage storage = {};
      auto* address = reinterpret_cast<sockaddr*>(&storage);
      socklen_t size = sizeof(storage);
      return getsockname(fd, address, &size) == 0 ? PeerAddress::From(address, size).port : 0;
    }
  }

  TuningResult ApplySocketSettings(int fd, const DicomSockets& settings,
                                   CongestionControlName* former) noexcept
  {
    const ErrnoKeeper keeper;
    TuningResult result;

    result.noDelay = SetOption(fd, IPPROTO_TCP, TCP_NODELAY, settings.tcpNoDelay ? 1 : 0);
    result.receiveBuffer =
        ApplyBuffer(fd, SO_RCVBUF, RECEIVE_BUFFER_LOCKED, settings.receiveBuffer);
    result.sendBuffer = ApplyBuffer(fd, SO_SNDBUF, SEND_BUFFER_LOCKED, settings.sendBuffer);
    result.keepAlive = ApplyKeepAlive(fd, settings.keepAlive);
    result.userTimeout = SetOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT,
                                   static_cast<int>(settings.userTimeout.count() * 1000));
    CongestionControlName forgotten = {};
    result.congestionControl = ApplyCongestionControl(fd, settings.congestionControl.c_str(),
                                                      former == nullptr ? forgotten : *former);
    return result;
  }

  SocketOptions ReadSocketOptions(int fd)
  {
    const ErrnoKeeper keeper;
    SocketOptions options;

    if (const auto value = GetOption(fd, IPPROTO_TCP, TCP_NODELAY))
    {
      options.noDelay = *value != 0;
    }

    options.receiveBuffer = ToUnsigned(GetOption(fd, SOL_SOCKET, SO_RCVBUF));
    options.sendBuffer = ToUnsigned(GetOption(fd, SOL_SOCKET, SO_SNDBUF));

    if (const auto locks = GetOption(fd, SOL_SOCKET, BUFFER_LOCK))
    {
      options.isReceiveBufferFixed = (*locks & RECEIVE_BUFFER_LOCKED) != 0;
      options.isSendBufferFixed = (*locks & SEND_BUFFER_LOCKED) != 0;
    }

    if (const auto isOn = GetOption(fd, SOL_SOCKET, SO_KEEPALIVE))
    {
      options.keepAlive =
          *isOn == 0 ? std::uint32_t{0} : ToUnsigned(GetOption(fd, IPPROTO_TCP, TCP_KEEPIDLE));
    }

    options.userTimeout = ToUnsigned(GetOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 1000);

    options.congestionControl = GetCongestionControl(fd).data();
    return options;
  }

  void AcknowledgeNow(int fd) noexcept
  {
    const ErrnoKeeper keeper;
    SetOption(fd, IPPROTO_TCP, TCP_QUICKACK, 1);
  }

  bool IsOverridden(const DicomSockets& settings, int level, int option) noexcept
  {
    if (level == SOL_SOCKET)
    {
      return (option == SO_RCVBUF && settings.receiveBuffer.mode != SocketBuffer::Mode::Default) ||
             (option == SO_SNDBUF && settings.sendBuffer.mode != SocketBuffer::Mode::Default) ||
             option == SO_KEEPALIVE;
    }

    return level == IPPROTO_TCP && option == TCP_NODELAY && settings.tcpNoDelay;
  }

  std::optional<int> FindListeningSocket(std::uint16_t port)
  {
    std::error_code error;

    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error))
    {
      const std::string name = entry.path().filename().string();
      int fd = -1;
      std::from_chars(name.data(), name.data() + name.size(), fd);

      if (fd >= 0 && port != 0 && IsListening(fd) && GetLocalPort(fd) == port)
      {
        return fd;
      }
    }

    return std::nullopt;
  }
}
