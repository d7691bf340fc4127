// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace OrthancPerf
{
  // Lets pieces of one work run in parallel where processor cores are free: threads of their own
  // for the pieces, never more than there are cores among all callers together. The caller works,
  // too; where as many threads are at work as there are cores, a new caller works alone.
  //
  // Any thread may call it, several at once.
  class SpareWorkers
  {
  public:
    // Zero: as many cores as the processor has hardware threads
    explicit SpareWorkers(std::size_t cores = 0);

    // Calls "work" with each number from 0 to count - 1, from several threads, in no order, and
    // comes back when all calls have. If one throws, no more pieces are begun and its exception
    // goes to the caller.
    void Run(std::size_t count, const std::function<void(std::size_t)>& work);

  private:
    const std::size_t cores_;
    std::atomic<std::size_t> busy_{0};  // threads at work, the callers' among them
  };
}
