// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace OrthancPerf
{
  // What the allocation functions of this program do (C++17, [replacement.functions]). Sanitizers
  // bring their own: then these are of no use.
  struct Allocations
  {
    static thread_local std::size_t count;  // of this thread
    static thread_local bool areFailing;    // this thread gets no memory: std::bad_alloc
  };


  // On this thread, as long as this object
  class NoMemory
  {
  public:
    NoMemory()
    {
      Allocations::areFailing = true;
    }

    NoMemory(const NoMemory&) = delete;
    NoMemory& operator=(const NoMemory&) = delete;

    ~NoMemory()
    {
      Allocations::areFailing = false;
    }
  };
}
