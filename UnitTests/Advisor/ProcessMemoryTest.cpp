// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/ProcessMemory.h"

#include <gtest/gtest.h>
#include <memory>
#include <sys/mman.h>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::seconds;

    constexpr std::size_t MEBIBYTE = std::size_t{1} << 20;

    void Touch(char* memory, std::size_t size)
    {
      for (std::size_t i = 0; i < size; i += 4096)
      {
        memory[i] = static_cast<char>(i);
      }
    }

    class ProcessMemoryTest : public testing::Test
    {
    protected:
      // After so long; the first time, that is when there has been much for long enough
      ProcessMemory ReadAfter(Duration time)
      {
        if (now_ == TimePoint())
        {
          now_ = Clock::now();
          ProcessMemory::Read(heap_, "/proc", now_ - HeapWatch::LASTING);
        }

        now_ += time;
        return ProcessMemory::Read(heap_, "/proc", now_);
      }

      HeapWatch heap_;
      TimePoint now_;
    };
  }


  TEST_F(ProcessMemoryTest, IsReadFromProcAndMalloc)
  {
    const auto block = std::make_unique<char[]>(400 * MEBIBYTE);
    Touch(block.get(), 400 * MEBIBYTE);

    const ProcessMemory memory = ReadAfter(seconds(0));
    EXPECT_LE(400 * MEBIBYTE, memory.anonymous);
    EXPECT_LE(memory.anonymous, memory.peak);

    if (memory.used)  // glibc 2.33, and no sanitizer's malloc
    {
      EXPECT_LE(400 * MEBIBYTE, *memory.used);
      EXPECT_GT(200 * MEBIBYTE, memory.kept);

      // malloc is not asked each time
      const auto another = std::make_unique<char[]>(100 * MEBIBYTE);
      EXPECT_EQ(memory.used, ReadAfter(seconds(29)).used);
      EXPECT_LE(500 * MEBIBYTE, *ReadAfter(std::chrono::hours(1)).used);
    }
  }


  // As that of a Java machine, or of Python
  TEST_F(ProcessMemoryTest, WhatDidNotComeFromMallocIsNotKeptByIt)
  {
    constexpr std::size_t SIZE = 400 * MEBIBYTE;
    void* const foreign =
        mmap(nullptr, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(MAP_FAILED, foreign);
    Touch(static_cast<char*>(foreign), SIZE);

    const ProcessMemory memory = ReadAfter(seconds(0));
    EXPECT_LE(SIZE, memory.anonymous);
    EXPECT_GT(200 * MEBIBYTE, memory.kept);
    munmap(foreign, SIZE);
  }


  TEST_F(ProcessMemoryTest, IsNotKnownWithoutProc)
  {
    const ProcessMemory memory = ProcessMemory::Read(heap_, "/nowhere", Clock::now());
    EXPECT_EQ(0U, memory.anonymous);
    EXPECT_EQ(0U, memory.peak);
    EXPECT_FALSE(memory.used);
    EXPECT_EQ(0U, memory.kept);
  }
}
