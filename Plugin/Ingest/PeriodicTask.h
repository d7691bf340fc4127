// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace OrthancPerf
{
  // Runs a function again and again on a thread of its own, until destroyed: the destructor
  // waits for a run under way. The function must not throw.
  class PeriodicTask
  {
  public:
    PeriodicTask(std::chrono::milliseconds period, std::function<void()> task);
    PeriodicTask(const PeriodicTask&) = delete;
    PeriodicTask& operator=(const PeriodicTask&) = delete;
    ~PeriodicTask();

    // Any thread: it does not run again
    void RequestStop();

    // Once it was requested to stop: false if a run is under way still when so long has passed
    bool WaitForEnd(std::chrono::nanoseconds patience);

  private:
    void Run();

    const std::chrono::milliseconds period_;
    const std::function<void()> task_;
    std::mutex mutex_;
    std::condition_variable wakeUp_;
    std::condition_variable ended_;
    bool isStopped_ = false;
    bool isEnded_ = false;
    std::thread thread_;
  };
}
