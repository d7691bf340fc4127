// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/StorageTrial.h"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <future>
#include <memory>
#include <new>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    std::string TryAndWait(const std::string& folder)
    {
      // Shared: the thread may still be in set_value() when the answer is here
      const auto answer = std::make_shared<std::promise<std::string>>();
      std::future<std::string> future = answer->get_future();
      TryToStore(folder, [answer](const std::string& problem) { answer->set_value(problem); });
      return future.get();
    }
  }


  TEST(StorageTrial, LeavesNothingWhereThereIsRoom)
  {
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / "storage-trial";
    std::filesystem::create_directory(folder);
    EXPECT_EQ(TryAndWait(folder), "");
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    std::filesystem::remove(folder);
  }


  TEST(StorageTrial, SaysWhatTheKernelDoes)
  {
    EXPECT_EQ(TryAndWait("/proc/self/no-such-folder"), "No such file or directory");
    EXPECT_NE(TryAndWait("/proc/self"), "");
  }


  // Else the health of the server would be bad until its next start
  TEST(StorageTrial, WithoutMemoryThereIsAnAnswer)
  {
    const auto answer = std::make_shared<std::promise<std::string>>();
    std::future<std::string> future = answer->get_future();
    TryToStore(testing::TempDir(),
               [answer, isFirst = true](const std::string& problem) mutable
               {
                 if (std::exchange(isFirst, false))
                 {
                   throw std::bad_alloc();
                 }

                 answer->set_value(problem);
               });
    ASSERT_EQ(future.wait_for(std::chrono::seconds(60)), std::future_status::ready);
    EXPECT_EQ(future.get(), "out of memory");
  }


  TEST(StorageTrial, AFileThatCannotGrowIsAProblem)
  {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small = {0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string problem = TryAndWait(testing::TempDir());
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_NE(std::signal(SIGXFSZ, handler), SIG_ERR);
    EXPECT_EQ(problem, "File too large");
  }
}
