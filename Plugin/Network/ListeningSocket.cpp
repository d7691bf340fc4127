// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/ListeningSocket.h"

#include "Network/Connection.h"

#include <charconv>
#include <filesystem>
#include <string>
#include <sys/socket.h>

namespace OrthancPerf
{
  namespace
  {
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
