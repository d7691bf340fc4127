// SPDX-License-Identifier: GPL-3.0-or-later
// Room behind every array of this program. DCMTK (3.6.7 to 3.6.9, DJLSEncoderBase::
// compressCookedFrame) writes the padding of a near-lossless JPEG-LS frame to the uncompressed
// frame by mistake, at the place where the compressed one ends: behind it, where noise has made
// the compressed one the larger of the two. These functions take the place of the standard
// library's, for DCMTK's libraries too (C++17, [new.delete.array]).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(PERF_SANITIZED)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#endif

namespace
{
  // A code word has up to four times the bits of a sample (ITU-T T.87 section A.5.3, LIMIT), but
  // only until the statistics of the coder's 365 contexts have adapted to the noise.
  void* Allocate(std::size_t size) noexcept
  {
    constexpr std::size_t SMALL = std::size_t(1) << 20;
    constexpr std::size_t HEADERS = 1024;

    if (size > PTRDIFF_MAX / 2)
    {
      return nullptr;
    }

    const std::size_t room = HEADERS + (size < SMALL ? 4 * size : size / 4);
    char* const memory = static_cast<char*>(std::malloc(size + room));

    // For DCMTK alone, whose stores are not watched: who is watched has no room
    if (memory != nullptr)
    {
      ASAN_POISON_MEMORY_REGION(memory + size, room);
    }

    return memory;
  }
}


void* operator new[](std::size_t size)
{
  void* const memory = Allocate(size);

  if (memory == nullptr)
  {
    throw std::bad_alloc();
  }

  return memory;
}


void* operator new[](std::size_t size, const std::nothrow_t&) noexcept
{
  return Allocate(size);
}


void operator delete[](void* memory) noexcept
{
  std::free(memory);
}


void operator delete[](void* memory, std::size_t) noexcept
{
  std::free(memory);
}


void operator delete[](void* memory, const std::nothrow_t&) noexcept
{
  std::free(memory);
}
