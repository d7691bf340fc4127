// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/PeriodicTask.h"

#include <utility>

namespace OrthancPerf
{
  PeriodicTask::PeriodicTask(std::chrono::milliseconds period, std::function<void()> task) :
    period_(period),
    task_(std::move(task)),
    thread_([this] { Run(); })
  {
  }

  PeriodicTask::~PeriodicTask()
  {
    RequestStop();
    thread_.join();
  }

  void PeriodicTask::RequestStop()
  {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      isStopped_ = true;
    }

    wakeUp_.notify_all();
  }

  bool PeriodicTask::WaitForEnd(std::chrono::nanoseconds patience)
  {
    std::unique_lock<std::mutex> lock(mutex_);
    return ended_.wait_for(lock, patience, [this] { return isEnded_; });
  }

  void PeriodicTask::Run()
  {
    std::unique_lock<std::mutex> lock(mutex_);

    while (!wakeUp_.wait_for(lock, period_, [this] { return isStopped_; }))
    {
      lock.unlock();
      task_();
      lock.lock();
    }

    isEnded_ = true;
    ended_.notify_all();
  }
}
