// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Ingest/PeerDirectory.h"
#include "Metrics/SlotRing.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // What went between Orthanc and one peer in one direction, since Orthanc started
  struct PeerTraffic
  {
    std::uint64_t instances = 0;
    std::uint64_t bytes = 0;
    std::array<std::uint64_t, OUTCOME_COUNT> outcomes = {};
    PhaseDurations phases;  // of all instances together; their shares show where time goes
    std::uint64_t stalls = 0;
    Duration stallTime = Duration::zero();
    double instancesPerSecond = 0;  // over the last minute
    double bytesPerSecond = 0;      // over the last minute
  };

  struct PeerSummary
  {
    std::string name;     // OTHER_PEERS: all that found no place of their own
    std::string address;  // of the last instance with one; empty: not known
    std::chrono::system_clock::time_point firstSeen;
    std::chrono::system_clock::time_point lastSeen;
    std::array<PeerTraffic, DIRECTION_COUNT> directions;
  };

  // Each peer's traffic, for GET /perf/peers. Peers that are not known (an empty name) are left
  // out. Owned by the plugin's context; any thread may call it. Memory is bounded by the
  // directory: some 2 kB a peer.
  class PeerStatistics : public IJournalObserver
  {
  public:
    using Now = std::function<TimePoint()>;

    // The directory must outlive the statistics
    explicit PeerStatistics(PeerDirectory& directory, Now now = &Clock::now);

    void OnInstanceFinished(const FinishedInstance& instance) noexcept override;

    // All peers that have sent or received an instance, in the order of their places in the
    // directory; the others last
    std::vector<PeerSummary> Summarize() const;

  private:
    struct Rate
    {
      std::uint64_t instances = 0;
      std::uint64_t bytes = 0;
    };

    struct Record
    {
      explicit Record(TimePoint start);

      void Add(const FinishedInstance& instance, TimePoint now);
      PeerSummary Summarize(TimePoint now) const;

      PeerSummary totals;  // without the rates
      std::array<SlotRing<Rate>, DIRECTION_COUNT> rates;
    };

    void Count(const FinishedInstance& instance);

    PeerDirectory& directory_;
    const Now now_;
    const TimePoint start_;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Record>> records_;  // by place; nothing: no instance yet
  };
}
