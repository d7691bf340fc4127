// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/ProcessDescriptors.h"

#include <array>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace OrthancPerf
{
  TEST(ProcessDescriptors, AreCountedAsTheyAreOpenedAndClosed)
  {
    const std::uint64_t before = CountOpenDescriptors().value();
    EXPECT_EQ(before, ListOpenDescriptors("/proc/self/fd").value());

    std::array<int, 10> opened = {};

    for (int& fd : opened)
    {
      fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
      ASSERT_LE(0, fd);
    }

    EXPECT_EQ(before + 10, CountOpenDescriptors().value());
    EXPECT_EQ(before + 10, ListOpenDescriptors("/proc/self/fd").value());

    for (const int fd : opened)
    {
      close(fd);
    }

    EXPECT_EQ(before, CountOpenDescriptors().value());
  }


  TEST(ProcessDescriptors, AreNotKnownWithoutProc)
  {
    EXPECT_FALSE(ListOpenDescriptors("/nowhere"));
  }


  TEST(ProcessDescriptors, HaveTheLimitInForce)
  {
    rlimit before = {};
    ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));

    rlimit lower = before;
    lower.rlim_cur = 100;
    ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &lower));
    EXPECT_EQ(100U, GetMaximumDescriptors().value());
    setrlimit(RLIMIT_NOFILE, &before);
  }
}
