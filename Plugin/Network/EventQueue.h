// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Network/Destination.h"
#include "Network/ProbeEvent.h"

#include <atomic>
#include <boost/lockfree/queue.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace OrthancPerf
{
  // What is over waits here until Drain() tells the journal. Owned by ConnectionTracker.
  class EventQueue
  {
  public:
    EventQueue();

    // Any thread. Takes no lock, allocates nothing: what finds no room is dropped.
    void Push(const ProbeEvent& event) noexcept;

    std::uint64_t CountDropped() const noexcept
    {
      return dropped_.load(std::memory_order_relaxed);
    }

    // Any thread
    void Drain(const Journal& journal, TimePoint now = Clock::now());

    // Where Orthanc's modalities and peers are from now on. Any thread.
    void SetDestinations(std::vector<Destination> destinations);

    // For their ports
    const Destinations& GetDestinations() const
    {
      return destinations_;
    }

  private:
    // 2,048 events between two calls of Drain, half a second apart
    using Events = boost::lockfree::queue<ProbeEvent, boost::lockfree::capacity<2048>>;

    void Publish(const Journal& journal, const ProbeEvent& event);

    const std::unique_ptr<Events> events_;
    std::atomic<std::uint64_t> dropped_{0};
    std::mutex draining_;
    Destinations destinations_;  // under this lock, but for the ports
  };
}
