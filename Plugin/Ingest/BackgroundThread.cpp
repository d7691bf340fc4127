// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/BackgroundThread.h"

#include <utility>

namespace OrthancPerf
{
  BackgroundThread::BackgroundThread() : thread_([this] { Run(); })
  {
  }

  BackgroundThread::~BackgroundThread()
  {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      isEnding_ = true;
    }

    changed_.notify_all();
    thread_.join();
  }

  void BackgroundThread::Post(Work work)
  {
    Add(Duration::zero(), {std::move(work), Duration::zero()});
  }

  void BackgroundThread::Repeat(Duration pause, Work work)
  {
    Add(pause, {std::move(work), pause});
  }

  void BackgroundThread::StopRepeating(Duration patience)
  {
    std::unique_lock<std::mutex> lock(mutex_);
    isRepeating_ = false;
    changed_.wait_for(lock, patience, [this] { return !isAtWork_; });
  }

  void BackgroundThread::Add(Duration delay, Entry entry)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.emplace(Clock::now() + delay, std::move(entry));
    changed_.notify_all();
  }

  void BackgroundThread::Run()
  {
    std::unique_lock<std::mutex> lock(mutex_);

    while (!isEnding_)
    {
      if (queue_.empty())
      {
        changed_.wait(lock);
      }
      else if (const TimePoint due = queue_.begin()->first; due > Clock::now())
      {
        changed_.wait_until(lock, due);
      }
      else
      {
        auto node = queue_.extract(queue_.begin());
        const Entry& entry = node.mapped();
        const bool isRepeated = entry.pause > Duration::zero();

        if (isRepeated && !isRepeating_)
        {
          continue;
        }

        isAtWork_ = true;
        lock.unlock();
        entry.work();
        lock.lock();
        isAtWork_ = false;
        changed_.notify_all();

        if (isRepeated)
        {
          node.key() = Clock::now() + entry.pause;
          queue_.insert(std::move(node));
        }
      }
    }
  }
}
