// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <thread>
#include <vector>

namespace OrthancPerf
{
  // Calls "work" with each number below "count", on a thread of its own, and "meanwhile" on this
  // one; waits for all
  template <typename Work, typename Meanwhile>
  void RunOnThreads(int count, const Work& work, const Meanwhile& meanwhile)
  {
    std::vector<std::thread> threads;

    for (int i = 0; i < count; i++)
    {
      threads.emplace_back([&work, i] { work(i); });
    }

    meanwhile();

    for (std::thread& thread : threads)
    {
      thread.join();
    }
  }

  template <typename Work>
  void RunOnThreads(int count, const Work& work)
  {
    RunOnThreads(count, work, [] {});
  }
}
