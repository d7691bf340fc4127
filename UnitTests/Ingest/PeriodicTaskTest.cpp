// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/PeriodicTask.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::chrono::milliseconds AT_ONCE(0);
    constexpr std::chrono::hours LONG(1);
  }


  TEST(PeriodicTask, WhoStopsItNeedNotWaitForARunThatHangs)
  {
    std::promise<void> hangs;
    std::promise<void> release;
    std::atomic<int> runs = 0;
    PeriodicTask task(AT_ONCE,
                      [&]
                      {
                        if (runs++ == 0)
                        {
                          hangs.set_value();
                          release.get_future().wait();
                        }
                      });
    hangs.get_future().wait();
    task.RequestStop();
    EXPECT_FALSE(task.WaitForEnd(AT_ONCE));
    release.set_value();
    EXPECT_TRUE(task.WaitForEnd(LONG));
    EXPECT_EQ(1, runs);
  }


  TEST(PeriodicTask, OneThatRestsEndsAtOnce)
  {
    PeriodicTask task(LONG, [] {});
    task.RequestStop();
    EXPECT_TRUE(task.WaitForEnd(LONG));
  }
}
