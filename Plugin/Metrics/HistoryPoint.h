// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/FinishedInstance.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace OrthancPerf
{
  // What went in one direction during one second, or one minute. 104 bytes, so that a day takes
  // a megabyte; times are seconds of all instances together.
  struct TrafficPoint
  {
    std::uint64_t bytes = 0;
    std::uint32_t instances = 0;
    std::uint32_t failed = 0;
    std::uint32_t stalls = 0;
    std::uint32_t remoteRoundTrips = 0;
    std::uint32_t databaseRoundTrips = 0;
    std::uint32_t observedPhases = 0;  // one bit a phase, by its place in GetAllPhases()
    float stallSeconds = 0;
    std::array<float, PHASE_COUNT> phaseSeconds = {};

    void Add(const FinishedInstance& instance) noexcept;

    bool IsObserved(std::size_t phase) const
    {
      return ((observedPhases >> phase) & 1) != 0;
    }
  };

  // One point of all charts
  struct HistoryPoint
  {
    std::array<TrafficPoint, DIRECTION_COUNT> directions;
    std::uint32_t associations = 0;   // the most that were open at once, as far as it was looked
    std::uint32_t budgetWaiting = 0;  // messages at once, likewise
    std::uint64_t budgetHeld = 0;     // bytes, likewise
    double budgetWaited = 0;          // seconds
  };
}
