// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Native/NativeEngine.h"

#include "Threads.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    // Holds threads until so many are there
    class Gathering
    {
    public:
      explicit Gathering(std::size_t size) : size_(size)
      {
      }

      void Arrive()
      {
        std::unique_lock<std::mutex> lock(mutex_);
        arrived_++;
        condition_.notify_all();
        condition_.wait(lock, [this] { return arrived_ >= size_; });
      }

    private:
      const std::size_t size_;
      std::size_t arrived_ = 0;
      std::mutex mutex_;
      std::condition_variable condition_;
    };
  }

  TEST(SpareWorkers, EveryPieceIsDoneOnce)
  {
    for (const std::size_t cores : {0, 1, 3, 8})
    {
      SpareWorkers workers(cores);

      for (const std::size_t count : {0, 1, 2, 100})
      {
        std::vector<std::atomic<int>> done(count);
        workers.Run(count, [&done](std::size_t i) { done[i]++; });

        for (const std::atomic<int>& piece : done)
        {
          EXPECT_EQ(1, piece);
        }
      }
    }
  }

  TEST(SpareWorkers, PiecesRunAtTheSameTimeWhereCoresAreFreeOrByTheirCaller)
  {
    SpareWorkers workers(3);
    Gathering gathering(3);  // would wait for ever with fewer threads
    workers.Run(3, [&gathering](std::size_t) { gathering.Arrive(); });

    SpareWorkers none(1);
    const std::thread::id caller = std::this_thread::get_id();
    none.Run(10, [caller](std::size_t) { EXPECT_EQ(caller, std::this_thread::get_id()); });
  }

  TEST(SpareWorkers, NoMoreThreadsThanCoresAreAtWork)
  {
    SpareWorkers workers(2);
    std::atomic<int> atWork{0};
    std::atomic<int> most{0};
    const auto work = [&](std::size_t)
    {
      const int now = ++atWork;
      int seen = most;

      while (seen < now && !most.compare_exchange_weak(seen, now))
      {
      }

      std::this_thread::yield();
      atWork--;
    };
    RunOnThreads(4, [&](int) { workers.Run(200, work); });

    // Four callers, and the one helper that the first of them may have found a core for
    EXPECT_LE(most, 5);
  }

  TEST(SpareWorkers, AnExceptionGoesToTheCallerAndEndsTheWork)
  {
    SpareWorkers workers(2);
    std::atomic<std::size_t> done{0};
    EXPECT_THROW(workers.Run(1000000,
                             [&done](std::size_t)
                             {
                               done++;
                               throw std::runtime_error("piece");
                             }),
                 std::runtime_error);
    EXPECT_LE(done, 2u);

    // and leaves no core taken
    Gathering gathering(2);
    workers.Run(2, [&gathering](std::size_t) { gathering.Arrive(); });
  }
}
