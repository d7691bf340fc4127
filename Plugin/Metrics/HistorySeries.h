// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/HistoryPoint.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace OrthancPerf
{
  // Seconds since 1970-01-01 00:00 UTC, as charts and Prometheus count them
  using UnixSeconds = std::int64_t;

  // A row of points at equal distance, the oldest of which makes place for the newest. All memory
  // is taken at the beginning. Not thread-safe: its owner locks.
  class HistorySeries
  {
  public:
    HistorySeries(std::chrono::seconds resolution, std::size_t capacity, UnixSeconds start);

    // The point of this time, which becomes the newest one; the points between are empty. A clock
    // that goes back a little changes nothing; when it is set back, what was kept is forgotten,
    // because it would lie in the future.
    HistoryPoint& At(UnixSeconds time) noexcept;

    // The begin of the first point that is kept, or comes, at "since" or later; of the oldest if
    // that is later than any reader can have asked for, unless the clock has been set back
    UnixSeconds GetBegin(UnixSeconds since) const;

    // The points from "begin" on whose time is over at "now", the oldest first
    std::vector<HistoryPoint> GetOver(UnixSeconds begin, UnixSeconds now) const;

    std::chrono::seconds GetResolution() const
    {
      return resolution_;
    }

  private:
    void Restart(std::int64_t number) noexcept;
    std::int64_t GetOldest() const;

    const std::chrono::seconds resolution_;
    std::vector<HistoryPoint> points_;  // by number modulo size
    std::int64_t first_;                // the number of the first point ever
    std::int64_t newest_;
  };
}
