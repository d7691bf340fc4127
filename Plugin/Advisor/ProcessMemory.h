// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // What this process has of main memory, in bytes; 0: not known
  struct ProcessMemory
  {
    std::uint64_t anonymous = 0;        // RssAnon of proc(5): what is no file's
    std::uint64_t peak = 0;             // VmHWM: the most that it ever had, files included
    std::optional<std::uint64_t> used;  // of the former, what malloc(3) has given out

    // What malloc keeps for later, above all in its arenas; stacks count as well
    std::uint64_t GetKept() const
    {
      return used && *used < anonymous ? anonymous - *used : 0;
    }

    // Asks malloc only where there is much, and no more often than in this time, whoever calls
    // this: it looks at all that is free, with its locks held
    static constexpr std::chrono::seconds PERIOD{30};

    // For any thread
    static ProcessMemory Read(const std::string& proc = "/proc", TimePoint now = Clock::now());
  };
}
