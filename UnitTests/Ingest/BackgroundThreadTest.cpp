// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/BackgroundThread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::chrono::nanoseconds AT_ONCE(0);
    constexpr std::chrono::milliseconds SOON(1);
    constexpr std::chrono::hours LONG(1);


    // All that was posted before is done
    void WaitFor(BackgroundThread& thread)
    {
      std::promise<void> done;
      thread.Post([&done] { done.set_value(); });
      done.get_future().wait();
    }
  }


  TEST(BackgroundThread, PostedWorkIsDoneInOrderWhileRepeatedWorkRests)
  {
    BackgroundThread thread;
    std::string order;
    thread.Repeat(LONG, [&order] { order += "?"; });
    thread.Post([&order] { order += "a"; });
    thread.Post([&order] { order += "b"; });
    WaitFor(thread);
    EXPECT_EQ("ab", order);
  }


  TEST(BackgroundThread, RepeatsUntilItIsStoppedAndStillDoesWhatIsPosted)
  {
    BackgroundThread thread;
    std::atomic<int> runs = 0;
    std::promise<void> third;
    thread.Repeat(SOON,
                  [&]
                  {
                    if (++runs == 3)
                    {
                      third.set_value();
                    }
                  });
    third.get_future().wait();
    thread.StopRepeating(LONG);
    const int last = runs;
    std::this_thread::sleep_for(10 * SOON);
    WaitFor(thread);
    EXPECT_EQ(last, runs);
  }


  TEST(BackgroundThread, WhoStopsItNeedNotWaitForWorkThatHangs)
  {
    std::promise<void> hangs;
    std::promise<void> release;
    BackgroundThread thread;
    thread.Post(
        [&]
        {
          hangs.set_value();
          release.get_future().wait();
        });
    hangs.get_future().wait();
    thread.StopRepeating(AT_ONCE);
    release.set_value();
    thread.StopRepeating(LONG);
  }


  TEST(BackgroundThread, OneThatRestsEndsAtOnce)
  {
    BackgroundThread thread;
    thread.Repeat(LONG, [] { ADD_FAILURE(); });
    thread.StopRepeating(LONG);
  }
}
