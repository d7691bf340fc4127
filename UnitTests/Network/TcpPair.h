// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Tuning/TuningDocument.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace OrthancPerf
{
  // Sockets as Orthanc makes them: for tests that change one option
  inline DicomSockets MakeStock()
  {
    return GetPresetValues(SocketPreset::Stock).value();
  }

  // A TCP connection over loopback: a listening socket, who connected to it, and who accepted
  class TcpPair
  {
  public:
    using Accept = int(int, sockaddr*, socklen_t*);
    using Connect = int(int, const sockaddr*, socklen_t);

    explicit TcpPair(Accept* accept = &::accept, Connect* connect = &::connect) :
      listening_(socket(AF_INET, SOCK_STREAM, 0)),
      client_(socket(AF_INET, SOCK_STREAM, 0))
    {
      sockaddr_in address = {};
      address.sin_family = AF_INET;
      socklen_t size = sizeof(address);
      auto* generic = reinterpret_cast<sockaddr*>(&address);

      Check(bind(listening_, generic, size));
      Check(listen(listening_, 128));
      Check(getsockname(listening_, generic, &size));
      port_ = ntohs(address.sin_port);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      accept_ = accept;
      Check(connect(client_, generic, size));
    }

    ~TcpPair()
    {
      for (const int fd : {listening_, client_, server_})
      {
        if (fd >= 0)
        {
          close(fd);
        }
      }
    }

    TcpPair(const TcpPair&) = delete;
    TcpPair& operator=(const TcpPair&) = delete;

    std::uint16_t GetPort() const
    {
      return port_;
    }

    // As what is asked of it is shown
    std::string Describe() const
    {
      return "127.0.0.1:" + std::to_string(port_);
    }

    int GetListening() const
    {
      return listening_;
    }

    int GetClient() const
    {
      return client_;
    }

    // Accepts at the first call
    int GetServer()
    {
      if (server_ < 0)
      {
        server_ = accept_(listening_, nullptr, nullptr);
        Check(server_);
      }

      return server_;
    }

    // The caller closed it
    void ReleaseServer()
    {
      server_ = -1;
    }

    void ReleaseClient()
    {
      client_ = -1;
    }

  private:
    static void Check(int result)
    {
      if (result < 0)
      {
        throw std::runtime_error("no TCP connection over loopback");
      }
    }

    int listening_ = -1;
    int client_ = -1;
    int server_ = -1;
    std::uint16_t port_ = 0;
    Accept* accept_ = nullptr;
  };

  // A further client of such a pair
  class ConnectedSocket
  {
  public:
    explicit ConnectedSocket(std::uint16_t port, in_addr_t host = INADDR_LOOPBACK) :
      fd_(socket(AF_INET, SOCK_STREAM, 0))
    {
      sockaddr_in address = {};
      address.sin_family = AF_INET;
      address.sin_port = htons(port);
      address.sin_addr.s_addr = htonl(host);

      if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
      {
        throw std::runtime_error("no TCP connection over loopback");
      }
    }

    ConnectedSocket(const ConnectedSocket&) = delete;
    ConnectedSocket& operator=(const ConnectedSocket&) = delete;

    ~ConnectedSocket()
    {
      close(fd_);
    }

    int Get() const
    {
      return fd_;
    }

  private:
    const int fd_;
  };

  inline void SendAll(int fd, const std::string& bytes)
  {
    std::size_t sent = 0;

    while (sent < bytes.size())
    {
      const ssize_t count = send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);

      if (count <= 0)
      {
        throw std::runtime_error("the peer is gone");
      }

      sent += static_cast<std::size_t>(count);
    }
  }

  inline void ReceiveAll(int fd, std::size_t size)
  {
    std::array<char, 65536> buffer = {};

    while (size != 0)
    {
      const ssize_t count = recv(fd, buffer.data(), std::min(size, buffer.size()), 0);

      if (count <= 0)
      {
        throw std::runtime_error("the peer is gone");
      }

      size -= static_cast<std::size_t>(count);
    }
  }
}
