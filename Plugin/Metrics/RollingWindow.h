// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/FinishedInstance.h"
#include "Metrics/LatencyHistogram.h"
#include "Metrics/SlotRing.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace OrthancPerf
{
  // How long something took, over many instances
  struct LatencySummary
  {
    std::uint64_t count = 0;
    Duration total = Duration::zero();
    Duration mean = Duration::zero();
    Duration median = Duration::zero();
    Duration percentile90 = Duration::zero();
    Duration percentile99 = Duration::zero();
    Duration maximum = Duration::zero();
  };

  // What happened in one direction. What was not observed is absent.
  struct TrafficSummary
  {
    std::uint64_t instances = 0;
    std::uint64_t bytes = 0;
    double instancesPerSecond = 0;
    double bytesPerSecond = 0;
    std::array<std::uint64_t, OUTCOME_COUNT> outcomes = {};
    std::uint64_t stalls = 0;
    Duration stallTime = Duration::zero();
    std::optional<LatencySummary> duration;  // of the whole instance: PhaseDurations::GetTotal()
    std::array<std::optional<LatencySummary>, PHASE_COUNT> phases;
  };

  struct WindowSummary
  {
    Duration length = Duration::zero();   // the nominal one: a minute
    Duration covered = Duration::zero();  // what the rates are divided by
    std::array<TrafficSummary, DIRECTION_COUNT> directions;
  };

  // Rates and phase percentiles over the last stretch of time. Owned by RecentTraffic; any thread
  // may call it. Memory: some 20 kB a slot, fixed.
  class RollingWindow
  {
  public:
    RollingWindow(Duration length, std::size_t slotCount, TimePoint start);

    void Add(const FinishedInstance& instance, TimePoint now);

    WindowSummary Summarize(TimePoint now) const;

  private:
    struct Traffic
    {
      std::array<std::uint64_t, OUTCOME_COUNT> outcomes = {};
      std::uint64_t instances = 0;
      std::uint64_t bytes = 0;
      std::uint64_t stalls = 0;
      Duration stallTime = Duration::zero();
      LatencyHistogram duration;
      std::array<LatencyHistogram, PHASE_COUNT> phases;

      void Add(const FinishedInstance& instance);
      void Add(const Traffic& other);
      TrafficSummary Summarize(Duration covered) const;
    };

    using Slot = std::array<Traffic, DIRECTION_COUNT>;

    Slot Merge(TimePoint now) const;

    const Duration length_;
    mutable std::mutex mutex_;
    SlotRing<Slot> slots_;
  };
}
