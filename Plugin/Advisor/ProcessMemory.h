// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace OrthancPerf
{
  // What this process has of main memory, in bytes; 0: not known
  struct ProcessMemory
  {
    std::uint64_t anonymous = 0;  // RssAnon of proc(5): what is no file's
    std::uint64_t peak = 0;       // VmHWM: the most that it ever had, files included

    // Any thread. Reads a file.
    static ProcessMemory Read(const std::string& proc = "/proc");
  };
}
