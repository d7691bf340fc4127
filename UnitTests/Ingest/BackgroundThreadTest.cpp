// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/BackgroundThread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace OrthancPerf
{
  namespace
  {
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
    thread.StopRepeating(Duration::zero());
    release.set_value();
    thread.StopRepeating(LONG);
  }

  class AskElsewhereTest : public testing::Test
  {
  protected:
    std::optional<int> Ask(const std::function<int()>& ask, Duration patience)
    {
      const auto post = [this](const BackgroundThread::Work& work)
      {
        thread_.Post(
            [this, work]
            {
              try
              {
                work();
              }
              catch (const std::runtime_error&)
              {
                hasFailed_ = true;
              }
            });
      };
      return AskElsewhere<int>(post, ask, patience);
    }

    bool hasFailed_ = false;
    BackgroundThread thread_;
  };

  TEST_F(AskElsewhereTest, TheAnswerIsThatOfTheOtherThreadWhichLearnsOfAFailure)
  {
    const std::thread::id own = std::this_thread::get_id();
    EXPECT_EQ(1, Ask([own] { return own == std::this_thread::get_id() ? 0 : 1; }, LONG));
    WaitFor(thread_);
    EXPECT_FALSE(hasFailed_);
    EXPECT_EQ(std::nullopt, Ask([]() -> int { throw std::runtime_error("no database"); }, LONG));
    WaitFor(thread_);
    EXPECT_TRUE(hasFailed_);
  }

  TEST_F(AskElsewhereTest, NobodyWaitsForItForEver)
  {
    // Shared: a busy machine may begin to ask only when the test is over
    const auto end = std::make_shared<std::promise<void>>();
    const auto ask = [end]
    {
      end->get_future().wait();
      return 1;
    };
    EXPECT_EQ(std::nullopt, Ask(ask, SOON));
    end->set_value();
  }
}
