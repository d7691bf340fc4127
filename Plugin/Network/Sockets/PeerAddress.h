// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/socket.h>

namespace OrthancPerf
{
  // A host as Orthanc's configuration has it, in a form that a hook can keep: the hash FNV-1a (RFC
  // 9923). 0: none.
  using HostHash = std::uint64_t;

  constexpr HostHash HashHost(std::string_view host) noexcept
  {
    constexpr HostHash OFFSET_BASIS = 0xcbf29ce484222325;
    constexpr HostHash PRIME = 0x100000001b3;
    HostHash hash = OFFSET_BASIS;

    for (const char c : host)
    {
      hash = (hash ^ static_cast<std::uint8_t>(c)) * PRIME;
    }

    return hash;
  }

  // The other end's address
  struct PeerAddress
  {
    std::array<std::uint8_t, 16> ip = {};  // IPv4 as mapped into IPv6 (RFC 4291 section 2.5.5.2)
    std::uint16_t port = 0;

    static PeerAddress From(const sockaddr* address, std::size_t size) noexcept;

    // As getsockname(2) or getpeername(2) tells it; port 0: it does not, or it is neither IPv4 nor
    // IPv6
    static PeerAddress From(int fd, int (*ask)(int, sockaddr*, socklen_t*)) noexcept;

    std::string ToString() const;  // "127.0.0.1", "::1"; without the port
  };

  // Whether the machine or its cloud is asked there, whatever a program stores or looks up: for
  // names, over Unix sockets (nss-resolve(8), nscd(8), sssd(8)), or for credentials, at a
  // link-local address (169.254.0.0/16 of RFC 3927), as Amazon's library does before it signs a
  // request
  bool IsServiceOfMachine(const sockaddr* address, std::size_t size) noexcept;
}
