// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Sockets/SocketTuning.h"

#include "Network/Sockets/PeerAddress.h"
#include "Network/Sockets/TcpInfo.h"
#include "Redirection/ErrnoKeeper.h"
#include "Redirection/FileDescriptor.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <system_error>

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

    // A receive window to go on from when autotuning is switched on again: enough for 100 Mb/s
    // over a path of 80 ms
    constexpr int RESUMED_WINDOW = 1 << 20;

    // Autotuning grows a receive buffer only when more was read within one round trip than ever
    // before (tcp_rcv_space_adjust() of the kernel), which a window that was fixed and small never
    // lets happen. SO_RCVLOWAT lifts the buffer and the window's clamp, without fixing them
    // (tcp_set_rcvlowat() of the kernel); then it is put back.
    void ResumeReceiveWindow(int fd) noexcept
    {
      const int before = GetSocketOption(fd, SOL_SOCKET, SO_RCVLOWAT).value_or(1);
      SetOption(fd, SOL_SOCKET, SO_RCVLOWAT, RESUMED_WINDOW);
      SetOption(fd, SOL_SOCKET, SO_RCVLOWAT, before);
    }

    int Unlock(int fd, int lock) noexcept
    {
      const std::optional<int> locks = GetSocketOption(fd, SOL_SOCKET, BUFFER_LOCK);

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
      return setting.mode == SocketBuffer::Mode::Automatic ? Unlock(fd, lock)
             : setting.mode == SocketBuffer::Mode::Fixed
                 ? SetOption(fd, SOL_SOCKET, option, static_cast<int>(setting.bytes))
                 : 0;
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

    // With the zero at its end (TCP_CA_NAME_MAX); empty: none
    std::array<char, 16> GetCongestionControl(int fd) noexcept
    {
      std::array<char, 16> name = {};
      socklen_t size = name.size() - 1;
      (void)getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size);
      return name;
    }

    int ApplyCongestionControl(int fd, const std::string& name) noexcept
    {
      // Setting the one in force would restart it
      const bool isDone = name.empty() || name == GetCongestionControl(fd).data();
      return isDone || setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(),
                                  static_cast<socklen_t>(name.size())) == 0
                 ? 0
                 : errno;
    }

    std::optional<std::uint32_t> ToUnsigned(const std::optional<int>& value, int unit = 1)
    {
      if (!value || *value < 0)
      {
        return std::nullopt;
      }

      return static_cast<std::uint32_t>(*value / unit);
    }

    // "; it has reno cubic", or nothing if the kernel does not tell (ip-sysctl.rst)
    std::string ListCongestionControls()
    {
      std::ifstream file("/proc/sys/net/ipv4/tcp_available_congestion_control");
      std::string names;
      return std::getline(file, names) ? "; it has " + names : std::string();
    }

    // As sscanf("%d"), which DCMTK uses: a number at the start, nothing if there is none
    std::optional<long> ParseNumber(const char* text)
    {
      char* end = nullptr;
      const long number = text == nullptr ? 0 : std::strtol(text, &end, 10);
      return end == text ? std::nullopt : std::optional<long>(number);
    }
  }

  SocketErrors ApplySocketSettings(int fd, const DicomSockets& settings) noexcept
  {
    const ErrnoKeeper keeper;
    return {SetOption(fd, IPPROTO_TCP, TCP_NODELAY, settings.tcpNoDelay ? 1 : 0),
            ApplyBuffer(fd, SO_RCVBUF, RECEIVE_BUFFER_LOCKED, settings.receiveBuffer),
            ApplyBuffer(fd, SO_SNDBUF, SEND_BUFFER_LOCKED, settings.sendBuffer),
            ApplyKeepAlive(fd, settings.keepAlive),
            SetOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT,
                      static_cast<int>(settings.userTimeout.count() * 1000)),
            ApplyCongestionControl(fd, settings.congestionControl)};
  }

  SocketOptions ReadSocketOptions(int fd)
  {
    const ErrnoKeeper keeper;
    SocketOptions options;

    const auto hasAny = [](const std::optional<int>& value, int bits)
    {
      return value ? std::make_optional((*value & bits) != 0) : std::nullopt;
    };
    const std::optional<int> locks = GetSocketOption(fd, SOL_SOCKET, BUFFER_LOCK);
    options.noDelay = hasAny(GetSocketOption(fd, IPPROTO_TCP, TCP_NODELAY), ~0);
    options.isReceiveBufferFixed = hasAny(locks, RECEIVE_BUFFER_LOCKED);
    options.isSendBufferFixed = hasAny(locks, SEND_BUFFER_LOCKED);
    options.receiveBuffer = ToUnsigned(GetSocketOption(fd, SOL_SOCKET, SO_RCVBUF));
    options.sendBuffer = ToUnsigned(GetSocketOption(fd, SOL_SOCKET, SO_SNDBUF));

    if (const auto isOn = GetSocketOption(fd, SOL_SOCKET, SO_KEEPALIVE))
    {
      options.keepAlive = *isOn == 0 ? std::uint32_t{0}
                                     : ToUnsigned(GetSocketOption(fd, IPPROTO_TCP, TCP_KEEPIDLE));
    }

    options.userTimeout = ToUnsigned(GetSocketOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 1000);

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

  SettingsTrial TrySocketSettings(const DicomSockets& settings)
  {
    const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));

    const SocketErrors errors = ApplySocketSettings(socket.Get(), settings);
    SettingsTrial trial;
    trial.inForce = ReadSocketOptions(socket.Get());

    for (std::size_t i = 0; i < errors.size(); i++)
    {
      if (errors[i] != 0)
      {
        trial.problems.push_back(std::string(SOCKET_KEYS[i]) + ": the kernel refuses it (" +
                                 std::generic_category().message(errors[i]) + ")");
      }
    }

    if (errors.back() != 0)
    {
      trial.problems.back() += ListCongestionControls();
    }

    // The kernel doubles what it is asked for, and caps it before (socket(7), SO_RCVBUF)
    const auto checkCap = [&trial](const char* key, const char* limit, const SocketBuffer& setting,
                                   const std::optional<std::uint32_t>& inForce)
    {
      if (setting.mode == SocketBuffer::Mode::Fixed && inForce && *inForce / 2 < setting.bytes)
      {
        trial.problems.push_back(std::string(key) + ": " + std::to_string(setting.bytes) +
                                 " bytes are asked for, " + std::to_string(*inForce / 2) +
                                 " are in force: the kernel's limit is " + limit);
      }
    };

    checkCap("ReceiveBuffer", "net.core.rmem_max", settings.receiveBuffer,
             trial.inForce.receiveBuffer);
    checkCap("SendBuffer", "net.core.wmem_max", settings.sendBuffer, trial.inForce.sendBuffer);
    return trial;
  }

  DcmtkEnvironment DcmtkEnvironment::Parse(const char* noDelay, const char* bufferLength)
  {
    DcmtkEnvironment environment;
    constexpr std::uint32_t LENGTH_FOR_ZERO = 65536;  // what DCMTK takes TCP_BUFFER_LENGTH=0 for
    environment.noDelay = ParseNumber(noDelay).value_or(0) != 0;

    if (const std::optional<long> length = ParseNumber(bufferLength))
    {
      environment.bufferLength =
          *length == 0 ? LENGTH_FOR_ZERO : static_cast<std::uint32_t>(*length);
    }

    return environment;
  }

  std::optional<int> FindListeningSocket(std::uint16_t port)
  {
    std::error_code error;

    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error))
    {
      const std::string name = entry.path().filename().string();
      int fd = -1;
      std::from_chars(name.data(), name.data() + name.size(), fd);

      if (fd >= 0 && port != 0 && GetSocketOption(fd, SOL_SOCKET, SO_ACCEPTCONN) == 1 &&
          PeerAddress::From(fd, &getsockname).port == port)
      {
        return fd;
      }
    }

    return std::nullopt;
  }
}
