// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/ProcessMemory.h"

#include <cstddef>
#include <dlfcn.h>
#include <fstream>
#include <mutex>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint64_t MUCH = std::uint64_t{256} << 20;


    // mallinfo2 came with glibc 2.33: mallinfo(3)
    struct MallocInfo
    {
      std::size_t arena;
      std::size_t ordblks;
      std::size_t smblks;
      std::size_t hblks;
      std::size_t hblkhd;  // given out, with a mapping of its own
      std::size_t usmblks;
      std::size_t fsmblks;
      std::size_t uordblks;  // given out of the arenas
      std::size_t fordblks;
      std::size_t keepcost;
    };


    const void* FindModule(const void* address)
    {
      Dl_info info = {};
      return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
    }


    // Nothing where malloc is another library's (jemalloc), of which glibc knows nothing
    std::optional<std::uint64_t> ReadUsed()
    {
      void* const function = dlsym(RTLD_DEFAULT, "mallinfo2");
      const void* const module = FindModule(function);

      if (module == nullptr || module != FindModule(dlsym(RTLD_DEFAULT, "malloc")))
      {
        return std::nullopt;
      }

      const MallocInfo info = reinterpret_cast<MallocInfo (*)()>(function)();
      return info.uordblks + info.hblkhd;
    }


    std::optional<std::uint64_t> ReadUsedNowAndThen(TimePoint now)
    {
      static std::mutex mutex;
      static std::optional<std::uint64_t> used;
      static std::optional<TimePoint> readAt;
      const std::lock_guard<std::mutex> lock(mutex);

      if (!readAt || now < *readAt || now - *readAt >= ProcessMemory::PERIOD)
      {
        used = ReadUsed();
        readAt = now;
      }

      return used;
    }
  }


  ProcessMemory ProcessMemory::Read(const std::string& proc, TimePoint now)
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

    if (memory.anonymous >= MUCH)
    {
      memory.used = ReadUsedNowAndThen(now);
    }

    return memory;
  }
}
