// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"
#include "Transcoding/Worker/WorkerProcess.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  // What is left until then, in whole milliseconds, rounded up. Throws WorkerFailure if it is over.
  std::chrono::milliseconds GetTimeLeft(TimePoint deadline);


  // The worker processes of one program: started when they are needed, up to a maximum, kept for a
  // while. Any thread may call anything. It outlives its workers.
  class WorkerPool
  {
  public:
    WorkerPool(std::filesystem::path program, std::size_t maximum,
               std::chrono::milliseconds startup);

    // No worker can be acquired from now on, and those at work are interrupted
    void Stop() noexcept;

    // Ends the workers that have rested for long, and waits for those that were ended by others.
    // Interrupts those at work since "hanging"; if none has answered since, no other can be
    // acquired.
    void Tidy(TimePoint hanging = TimePoint::min()) noexcept;

    // Waits while "maximum" workers are busy. Throws WorkerFailure if none can be started, none is
    // free before the deadline, or the pool was stopped.
    std::unique_ptr<WorkerProcess> Acquire(TimePoint deadline = TimePoint::max());

    // Of a worker that was acquired; one that is not alive ends
    void Release(std::unique_ptr<WorkerProcess> worker) noexcept;

  private:
    struct Idle
    {
      std::unique_ptr<WorkerProcess> worker;
      TimePoint since;
    };

    using Idles = std::vector<Idle>;

    std::unique_ptr<WorkerProcess> PopIdle(Idles& dead);
    void RemoveExpired(Idles& dead);
    std::unique_ptr<WorkerProcess> Start(std::unique_lock<std::mutex>& lock, TimePoint deadline);

    const std::filesystem::path program_;
    const std::size_t maximum_;
    const std::chrono::milliseconds startup_;

    std::mutex mutex_;
    std::condition_variable available_;  // a worker can be acquired, or none ever again
    bool isStopped_ = false;
    std::size_t inTransit_ = 0;                 // being forked or ended
    std::map<WorkerProcess*, TimePoint> busy_;  // since when; becoming ready is work, too
    TimePoint answered_;                        // when one was last released alive
    Idles idle_;                                // the last used one at the end
  };


  // A worker of a pool, released at destruction. One thread.
  class WorkerLease
  {
  public:
    // As WorkerPool::Acquire()
    explicit WorkerLease(WorkerPool& pool, TimePoint deadline = TimePoint::max()) :
      pool_(pool),
      worker_(pool.Acquire(deadline))
    {
    }

    WorkerLease(const WorkerLease&) = delete;
    WorkerLease& operator=(const WorkerLease&) = delete;

    ~WorkerLease()
    {
      pool_.Release(std::move(worker_));
    }

    WorkerProcess* operator->() const noexcept
    {
      return worker_.get();
    }

  private:
    WorkerPool& pool_;
    std::unique_ptr<WorkerProcess> worker_;
  };
}
