// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/HeapWatch.h"

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
    std::optional<std::uint64_t> used;  // what malloc(3) has given out, if HeapWatch knows
    std::uint64_t kept = 0;             // of "anonymous", what malloc keeps for later
    TimePoint askedAt;                  // when malloc said so

    // For any thread. One HeapWatch serves all who call the first.
    static ProcessMemory Read();
    static ProcessMemory Read(HeapWatch& heap, const std::string& proc, TimePoint now);
  };
}
