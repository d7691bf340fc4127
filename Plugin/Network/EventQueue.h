// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Network/ProbeEvent.h"

#include <array>
#include <atomic>
#include <boost/circular_buffer.hpp>
#include <boost/lockfree/queue.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
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

  // What is over waits here until Drain() tells the journal, with the title of whom Orthanc has
  // called. libcurl tries the addresses of a host one after the other, or at once (RFC 8305). So a
  // failed call to a peer is held back for a while: the next one of the same thread may replace it.
  // Owned by ConnectionTracker. Any thread.
  class EventQueue
  {
  public:
    EventQueue();

    // Takes no lock, allocates nothing: what finds no room is dropped
    void Push(const ProbeEvent& event) noexcept;

    std::uint64_t CountDropped() const noexcept
    {
      return dropped_.load(std::memory_order_relaxed);
    }

    void Drain(const Journal& journal, TimePoint now = Clock::now());

    void SetDestinations(std::vector<Destination> destinations);

    bool IsEncryptedModality(std::uint16_t port) const noexcept
    {
      return (ports_[port].load(std::memory_order_relaxed) & ENCRYPTED) != 0;
    }

    bool IsPeer(std::uint16_t port) const noexcept
    {
      return (ports_[port].load(std::memory_order_relaxed) & PEER) != 0;
    }

  private:
    static constexpr std::uint8_t ENCRYPTED = 1;
    static constexpr std::uint8_t PEER = 2;

    // More than peers have addresses, and than calls fail in a second
    static constexpr std::size_t MAXIMUM_KEPT = 256;

    // Room for 114 ms of what 16 clients in a loop ask: 18,000 requests a second. Drain is called
    // every 50 ms, unless its thread is busy.
    using Events = boost::lockfree::queue<ProbeEvent, boost::lockfree::capacity<2048>>;

    struct Address
    {
      std::array<std::uint8_t, 16> ip;
      HostHash host;
    };

    struct FailedCall
    {
      PeerAddress first;
      ProbeEvent latest;  // the same call, by another address
      std::string title;
      bool isTold = false;
    };

    using FailedCalls = boost::circular_buffer<FailedCall>;

    void Publish(const Journal& journal, const ProbeEvent& event);
    void Learn(const ProbeEvent& event);
    void HoldBack(const ProbeEvent& call, const std::string& title);
    FailedCalls::iterator FindFormer(const ProbeEvent& call, const std::string& title);
    const Destination* Find(const ProbeEvent& event) const;
    const Destination* FindHost(HostHash host, std::uint16_t port) const;

    const std::unique_ptr<Events> requests_;  // that read: many, so that they displace nothing else
    const std::unique_ptr<Events> events_;    // all others
    std::atomic<std::uint64_t> dropped_{0};
    std::array<std::atomic<std::uint8_t>, 65536> ports_ = {};  // whose they are

    std::mutex draining_;  // protects what follows
    std::vector<Destination> destinations_;
    boost::circular_buffer<Address> addresses_{MAXIMUM_KEPT};  // of these, the latest last
    FailedCalls failed_{MAXIMUM_KEPT};
  };
}
