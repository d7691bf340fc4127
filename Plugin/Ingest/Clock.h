// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>

namespace OrthancPerf
{
  // The one monotonic clock of all phases (CLOCK_MONOTONIC: clock_gettime(2)). Functions that
  // depend on the time take it as an argument, so that tests choose it.
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;
  using Duration = std::chrono::nanoseconds;

  // The same moment on the clock that people read
  inline std::chrono::system_clock::time_point ToSystemTime(TimePoint time)
  {
    using WallClock = std::chrono::system_clock;
    return WallClock::now() - std::chrono::duration_cast<WallClock::duration>(Clock::now() - time);
  }

  inline double ToSeconds(Duration duration)
  {
    return std::chrono::duration<double>(duration).count();
  }
}
