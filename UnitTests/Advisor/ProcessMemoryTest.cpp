// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/ProcessMemory.h"

#include <gtest/gtest.h>
#include <memory>

namespace OrthancPerf
{
  TEST(ProcessMemory, IsReadFromProc)
  {
    constexpr std::size_t SIZE = std::size_t{100} << 20;
    const auto block = std::make_unique<char[]>(SIZE);

    for (std::size_t i = 0; i < SIZE; i += 4096)
    {
      block[i] = static_cast<char>(i);
    }

    const ProcessMemory memory = ProcessMemory::Read();
    EXPECT_LE(SIZE, memory.anonymous);
    EXPECT_LE(memory.anonymous, memory.peak);
  }


  TEST(ProcessMemory, IsNotKnownWithoutProc)
  {
    const ProcessMemory memory = ProcessMemory::Read("/nowhere");
    EXPECT_EQ(0U, memory.anonymous);
    EXPECT_EQ(0U, memory.peak);
  }
}
