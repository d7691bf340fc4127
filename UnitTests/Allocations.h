// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <limits>

namespace OrthancPerf
{
  // What the allocation functions of this program do (C++17, [replacement.functions]). Sanitizers
  // bring their own: then these are of no use.
  struct Allocations
  {
    static thread_local std::size_t count;  // of this thread
    // How many this thread still gets before std::bad_alloc
    static thread_local std::size_t left;
  };

  // On this thread, as long as this object
  class NoMemory
  {
  public:
    explicit NoMemory(std::size_t allocationsBefore = 0)
    {
      Allocations::left = allocationsBefore;
    }

    NoMemory(const NoMemory&) = delete;
    NoMemory& operator=(const NoMemory&) = delete;

    ~NoMemory()
    {
      Allocations::left = std::numeric_limits<std::size_t>::max();
    }
  };
}
