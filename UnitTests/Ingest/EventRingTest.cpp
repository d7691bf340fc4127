// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/EventRing.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace OrthancPerf
{
  TEST(EventRing, GivesBackInOrderWhatWasPushed)
  {
    EventRing<int, 4> ring;
    int event = 0;
    EXPECT_FALSE(ring.Pop(event));

    for (int round = 0; round < 10; round++)
    {
      EXPECT_TRUE(ring.Push(2 * round));
      EXPECT_TRUE(ring.Push(2 * round + 1));
      ASSERT_TRUE(ring.Pop(event));
      EXPECT_EQ(2 * round, event);
      ASSERT_TRUE(ring.Pop(event));
      EXPECT_EQ(2 * round + 1, event);
    }

    EXPECT_FALSE(ring.Pop(event));
  }


  TEST(EventRing, DropsAndCountsWhatFindsNoRoom)
  {
    EventRing<int, 4> ring;

    for (int i = 0; i < 7; i++)
    {
      EXPECT_EQ(i < 4, ring.Push(i));
    }

    EXPECT_EQ(3U, ring.CountDropped());
    int event = -1;
    ASSERT_TRUE(ring.Pop(event));
    EXPECT_EQ(0, event);
    EXPECT_TRUE(ring.Push(7));
  }


  TEST(EventRing, LosesNothingBetweenManyThreadsAndOne)
  {
    constexpr int THREADS = 8;
    constexpr int EVENTS = 5000;
    EventRing<int, 64> ring;
    std::vector<std::thread> threads;

    for (int t = 0; t < THREADS; t++)
    {
      threads.emplace_back(
          [&ring, t]
          {
            for (int i = 0; i < EVENTS; i++)
            {
              while (!ring.Push(t * EVENTS + i))
              {
                std::this_thread::yield();
              }
            }
          });
    }

    std::vector<int> last(THREADS, -1);
    int event = 0;

    for (int taken = 0; taken < THREADS * EVENTS;)
    {
      if (ring.Pop(event))
      {
        ASSERT_LT(last[static_cast<std::size_t>(event / EVENTS)], event % EVENTS);
        last[static_cast<std::size_t>(event / EVENTS)] = event % EVENTS;
        taken++;
      }
    }

    for (std::thread& thread : threads)
    {
      thread.join();
    }

    EXPECT_FALSE(ring.Pop(event));
  }
}
