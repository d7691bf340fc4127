// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/ProcessMemory.h"

#include <fstream>

namespace OrthancPerf
{
  ProcessMemory ProcessMemory::Read(const std::string& proc)
  {
    ProcessMemory memory;
    std::ifstream file(proc + "/self/status");

    // "VmHWM:     31236 kB"
    for (std::string key; file >> key;)
    {
      std::uint64_t* const place = key == "VmHWM:"     ? &memory.peak
                                   : key == "RssAnon:" ? &memory.anonymous
                                                       : nullptr;
      std::uint64_t kibibytes = 0;

      if (place != nullptr && file >> kibibytes)
      {
        *place = kibibytes * 1024;
      }
    }

    return memory;
  }
}
