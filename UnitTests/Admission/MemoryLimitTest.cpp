// SPDX-License-Identifier: GPL-3.0-or-later
#include "Admission/MemoryLimit.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint64_t MACHINE = 8192ULL * 1024;

    // Files as the kernel shows them
    class MemoryLimitTest : public testing::Test
    {
    protected:
      MemoryLimitTest()
      {
        std::string name = (std::filesystem::temp_directory_path() / "MemoryLimitXXXXXX").string();
        folder_ = mkdtemp(name.data());
        Write("proc/meminfo", "MemTotal:        8192 kB\nMemFree:         1024 kB\n");
      }

      ~MemoryLimitTest() override
      {
        std::filesystem::remove_all(folder_);
      }

      void Write(const std::string& path, const std::string& text) const
      {
        const std::filesystem::path file = folder_ / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
      }

      std::uint64_t Read() const
      {
        return ReadMemoryLimit((folder_ / "proc").string(), (folder_ / "cgroup").string());
      }

    private:
      std::filesystem::path folder_;
    };
  }

  TEST_F(MemoryLimitTest, TheTightestGroupCounts)
  {
    Write("proc/self/cgroup", "0::/system.slice/orthanc.service\n");
    Write("cgroup/system.slice/orthanc.service/memory.max", "max\n");
    EXPECT_EQ(MACHINE, Read());
    Write("cgroup/system.slice/memory.max", "5000000\n");
    EXPECT_EQ(5'000'000U, Read());
    Write("cgroup/system.slice/orthanc.service/memory.max", "4000000\n");
    EXPECT_EQ(4'000'000U, Read());
    Write("cgroup/system.slice/memory.high",
          "3000000\n");  // from where on the kernel slows it down
    EXPECT_EQ(3'000'000U, Read());
  }

  TEST_F(MemoryLimitTest, AContainersOwnGroupIsItsRoot)
  {
    Write("proc/self/cgroup", "0::/\n");
    Write("cgroup/memory.max", "3000000\n");
    EXPECT_EQ(3'000'000U, Read());
    Write("proc/self/cgroup", "0::/../of/the/host\n");
    EXPECT_EQ(3'000'000U, Read());
  }

  TEST_F(MemoryLimitTest, Version1HasAHierarchyOfMemory)
  {
    Write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/docker/1\n2:memory_of_none:/x\n");
    Write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(MACHINE, Read());
    Write("cgroup/memory/docker/1/memory.limit_in_bytes", "2000000\n");
    EXPECT_EQ(2'000'000U, Read());
  }

  TEST_F(MemoryLimitTest, WithoutControlGroupsItIsTheMachinesAndWithoutAnyFileNotKnown)
  {
    EXPECT_EQ(MACHINE, Read());
    EXPECT_EQ(0U, ReadMemoryLimit("/nowhere", "/nowhere"));
    EXPECT_GT(ReadMemoryLimit(), 0U);
  }
}
