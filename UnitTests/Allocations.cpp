// SPDX-License-Identifier: GPL-3.0-or-later
#include "Allocations.h"

#include <cstdlib>
#include <new>

#if !defined(PERF_SANITIZED)

namespace OrthancPerf
{
  thread_local std::size_t Allocations::count = 0;
  thread_local std::size_t Allocations::left = std::numeric_limits<std::size_t>::max();
}

namespace
{
  void* Allocate(std::size_t size)
  {
    using OrthancPerf::Allocations;
    Allocations::count++;
    void* const memory = Allocations::left > 0 ? std::malloc(size == 0 ? 1 : size) : nullptr;

    if (memory == nullptr)
    {
      throw std::bad_alloc();
    }

    Allocations::left--;
    return memory;
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
