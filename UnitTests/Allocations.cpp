// SPDX-License-Identifier: GPL-3.0-or-later
#include "Allocations.h"

#include <cstdlib>
#include <new>

#if !defined(PERF_SANITIZED)

namespace OrthancPerf
{
  thread_local std::size_t Allocations::count = 0;
  thread_local bool Allocations::areFailing = false;
}

namespace
{
  void* Allocate(std::size_t size)
  {
    using OrthancPerf::Allocations;
    Allocations::count++;

    if (void* memory = Allocations::areFailing ? nullptr : std::malloc(size == 0 ? 1 : size))
    {
      return memory;
    }

    throw std::bad_alloc();
  }
}

void* operator new(std::size_t size)
{
  return Allocate(size);
}

void* operator new[](std::size_t size)
{
  return Allocate(size);
}

void operator delete(void* memory) noexcept
{
  std::free(memory);
}

void operator delete[](void* memory) noexcept
{
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept
{
  std::free(memory);
}

void operator delete[](void* memory, std::size_t) noexcept
{
  std::free(memory);
}

#endif
