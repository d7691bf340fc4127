// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

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

  // "20261121T104736.114303": UTC in ISO 8601 basic format with microseconds, as Orthanc writes the
  // times of its jobs and of /tools/now
  std::string FormatMoment(std::chrono::system_clock::time_point moment);

  // The reverse. The fraction may be missing. Nothing: the text has another form, or is beyond the
  // clock, which ends in the year 2262.
  std::optional<std::chrono::system_clock::time_point> ParseMoment(const std::string& text);

  inline double ToSeconds(Duration duration)
  {
    return std::chrono::duration<double>(duration).count();
  }
}
