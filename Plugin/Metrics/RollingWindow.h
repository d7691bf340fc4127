// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/LatencyHistogram.h"
#include "Metrics/SlotRing.h"
#include "Metrics/Traffic.h"

#include <array>
#include <cstddef>
#include <mutex>

namespace OrthancPerf
{
  // What happened in one direction. A histogram without durations: it was not observed.
  struct TrafficSummary : Traffic
  {
    LatencyHistogram duration;  // of the whole instance: PhaseDurations::GetTotal()
    std::array<LatencyHistogram, PHASE_COUNT> phases;

    void Add(const FinishedInstance& instance) noexcept;
    void Add(const TrafficSummary& other) noexcept;
  };

  struct WindowSummary
  {
    Duration length = Duration::zero();   // the nominal one: a minute
    Duration covered = Duration::zero();  // what the rates are divided by
    std::array<TrafficSummary, DIRECTION_COUNT> directions;
  };

  // Rates and phase percentiles over the last stretch of time. Owned by RecentTraffic; any thread
  // may call it. Memory: some 30 kB a slot, fixed.
  class RollingWindow
  {
  public:
    RollingWindow(Duration length, std::size_t slotCount, TimePoint start);

    void Add(const FinishedInstance& instance, TimePoint now);

    // Into an empty summary. Stalls are observed, if any was looked for since the start: where
    // nothing comes for a while, there are none.
    void Summarize(TimePoint now, WindowSummary& summary) const;

  private:
    using Slot = std::array<TrafficSummary, DIRECTION_COUNT>;

    const Duration length_;
    mutable std::mutex mutex_;
    SlotRing<Slot> slots_;
    std::array<bool, DIRECTION_COUNT> areStallsObserved_ = {};
  };
}
