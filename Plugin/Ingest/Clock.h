// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>

namespace OrthancPerf
{
  // The one monotonic clock of all phases (CLOCK_MONOTONIC: clock_gettime(2)). Functions that
  // depend on the time take it as an argument, so that tests choose it.
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;
  using Duration = std::chrono::nanoseconds;

  inline double ToSeconds(Duration duration)
  {
    return std::chrono::duration<double>(duration).count();
  }
}
