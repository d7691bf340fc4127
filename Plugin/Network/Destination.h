// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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


  // A modality that Orthanc may call: of "DicomModalities", or of GET /modalities?expand
  struct Destination
  {
    std::string title;
    HostHash host = 0;
    std::uint16_t port = 0;
  };


  // The AE title of the first modality with this host and port; port 0: with this host. Nothing:
  // there is none, so that Orthanc has called something else (a database, a peer over HTTP).
  inline std::optional<std::string> FindTitle(const std::vector<Destination>& destinations,
                                              HostHash host, std::uint16_t port)
  {
    for (const Destination& destination : destinations)
    {
      if (destination.host == host && (port == 0 || destination.port == port))
      {
        return destination.title;
      }
    }

    return std::nullopt;
  }
}
