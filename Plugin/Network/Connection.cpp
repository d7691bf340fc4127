// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Connection.h"

#include <arpa/inet.h>
#include <cstring>
#include <netinet/in.h>

namespace OrthancPerf
{
  PeerAddress PeerAddress::From(const sockaddr* address, std::size_t size) noexcept
  {
    PeerAddress peer;

    if (address == nullptr)
    {
      return peer;
    }

    if (address->sa_family == AF_INET && size >= sizeof(sockaddr_in))
    {
      sockaddr_in v4 = {};
      std::memcpy(&v4, address, sizeof(v4));
      peer.ip[10] = peer.ip[11] = 0xff;
      std::memcpy(&peer.ip[12], &v4.sin_addr, 4);
      peer.port = ntohs(v4.sin_port);
    }
    else if (address->sa_family == AF_INET6 && size >= sizeof(sockaddr_in6))
    {
      sockaddr_in6 v6 = {};
      std::memcpy(&v6, address, sizeof(v6));
      std::memcpy(peer.ip.data(), &v6.sin6_addr, 16);
      peer.port = ntohs(v6.sin6_port);
    }

    return peer;
  }

  std::string PeerAddress::ToString() const
  {
    in6_addr v6 = {};
    std::memcpy(&v6, ip.data(), ip.size());
    std::array<char, INET6_ADDRSTRLEN> text = {};

    if (IN6_IS_ADDR_V4MAPPED(&v6))
    {
      inet_ntop(AF_INET, &ip[12], text.data(), text.size());
    }
    else
    {
      inet_ntop(AF_INET6, ip.data(), text.data(), text.size());
    }

    return text.data();
  }

  PeerAddress PeerAddress::FromWords(std::uint64_t high, std::uint64_t low,
                                     std::uint16_t port) noexcept
  {
    PeerAddress peer;
    std::memcpy(peer.ip.data(), &high, 8);
    std::memcpy(&peer.ip[8], &low, 8);
    peer.port = port;
    return peer;
  }


  PeerAddress Connection::GetPeer() const noexcept
  {
    return PeerAddress::FromWords(
        peerHigh.load(std::memory_order_relaxed), peerLow.load(std::memory_order_relaxed),
        static_cast<std::uint16_t>(peerPort.load(std::memory_order_relaxed)));
  }
}
