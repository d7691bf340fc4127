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
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopped_ = true;
    }

    wakeUp_.notify_all();
    thread_.join();
  }

  void PeriodicTask::Run()
  {
    std::unique_lock<std::mutex> lock(mutex_);

    while (!wakeUp_.wait_for(lock, period_, [this] { return stopped_; }))
    {
      lock.unlock();
      task_();
      lock.lock();
    }
  }
}
