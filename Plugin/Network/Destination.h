// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Network/Sockets/PeerAddress.h"

#include <array>
#include <atomic>
#include <cstdint>
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


  // Whom Orthanc may call: a modality of "DicomModalities" or GET /modalities?expand, or a peer of
  // "OrthancPeers" or GET /peers?expand
  struct Destination
  {
    std::string title;  // AE title; of a peer, its name in Orthanc
    HostHash host = 0;
    std::uint16_t port = 0;
    bool isEncrypted = false;  // of a modality: by TLS
    bool isPeer = false;       // over HTTP
  };


  // A connection that a thread of Orthanc wanted
  struct Call
  {
    std::uint64_t thread = 0;
    PeerAddress address;
    TimePoint begin;
    TimePoint end;
  };


  // All whom Orthanc may call, and the calls to peers that have failed. libcurl tries the addresses
  // of a host one after the other, or at once (RFC 8305). So a failed call is held back for a
  // while: another one of the same thread may replace it. Owned by ConnectionTracker. The ports:
  // any thread; the rest: one at a time.
  class Destinations
  {
  public:
    // A failed call counts once no other one has replaced it for so long
    static constexpr Duration HELD = std::chrono::seconds(1);

    void Set(std::vector<Destination> destinations);

    bool IsEncryptedModality(std::uint16_t port) const noexcept
    {
      return (ports_[port].load(std::memory_order_relaxed) & ENCRYPTED) != 0;
    }

    bool IsPeer(std::uint16_t port) const noexcept
    {
      return (ports_[port].load(std::memory_order_relaxed) & PEER) != 0;
    }

    // A host was found at this address. Kept if it is a peer's, which libcurl calls by the address.
    void Learn(HostHash host, const PeerAddress& address);

    // The first with this host and port. 0: the host is not known, or the port. Null: there is
    // none, so that Orthanc has called something else, as a database.
    const Destination* Find(HostHash host, const PeerAddress& address) const;

    void OnFailed(const Call& call, const FinishedAssociation& failure);
    void OnConnected(const Call& call, const std::string& title);

    // Failed calls that count now
    std::vector<FinishedAssociation> TakeFailed(TimePoint now);

  private:
    static constexpr std::uint8_t ENCRYPTED = 1;
    static constexpr std::uint8_t PEER = 2;

    struct Address
    {
      PeerAddress address;
      HostHash host;
    };

    struct FailedCall
    {
      Call call;  // the first attempt; its end is the latest one's
      FinishedAssociation failure;
      bool isTaken = false;
    };

    FailedCall* FindFormer(const Call& call, const std::string& title);
    const Destination* FindHost(HostHash host, std::uint16_t port) const;

    std::vector<Destination> destinations_;
    std::vector<Address> addresses_;
    std::vector<FailedCall> failed_;
    std::array<std::atomic<std::uint8_t>, 65536> ports_ = {};  // whose they are
  };
}
