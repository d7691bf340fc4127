// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"
#include "Transcoding/Worker/WorkerProcess.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  // What is left until then, in whole milliseconds, rounded up. Throws WorkerFailure if it is over.
  std::chrono::milliseconds GetTimeLeft(TimePoint deadline);


  // The worker processes of one program: started when they are needed, up to a maximum, kept for a
  // while. Any thread may call anything. It outlives the use of what was taken from it.
  class WorkerPool
  {
  public:
    WorkerPool(WorkerProgram program, std::size_t maximum, std::chrono::milliseconds startup);

    // No worker can be taken from now on, and those at work are interrupted
    void Stop() noexcept;

    // Ends the workers that have rested for long, and waits for those that were ended by others.
    // Interrupts those at work since "hanging"; if none has answered since, no other is taken.
    void Tidy(TimePoint hanging = TimePoint::min()) noexcept;

    // Waits while "maximum" workers are busy. Throws WorkerFailure if none can be started, none is
    // free before the deadline, or the pool was stopped.
    std::unique_ptr<WorkerProcess> Take(TimePoint deadline = TimePoint::max());

    // What was taken, and is not to be used any more if it is not alive
    void GiveBack(std::unique_ptr<WorkerProcess> worker) noexcept;

    // Starts a worker unless the last start went well. Throws WorkerFailure.
    void Prove();

    // Those that wait for work, the last used one at the end
    std::vector<pid_t> GetIdlePids();

  private:
    struct Idle
    {
      std::unique_ptr<WorkerProcess> worker;
      TimePoint since;
    };

    using Idles = std::vector<Idle>;

    std::unique_ptr<WorkerProcess> TakeIdle(Idles& dead);
    void RemoveExpired(Idles& dead);
    std::unique_ptr<WorkerProcess> Start(std::unique_lock<std::mutex>& lock, TimePoint deadline);

    const WorkerProgram program_;
    const std::size_t maximum_;
    const std::chrono::milliseconds startup_;

    std::mutex mutex_;
    std::condition_variable available_;  // a worker may be taken, or none ever again
    bool isStopped_ = false;
    std::size_t inTransit_ = 0;                 // being forked or ended
    std::map<WorkerProcess*, TimePoint> busy_;  // since when; becoming ready is work, too
    TimePoint answered_;                        // the last time that one was given back alive
    Idles idle_;                                // the last used one at the end
    bool isProved_ = false;                     // the last one that was started has become ready
  };


  // A worker taken from a pool, and given back at destruction. One thread.
  class WorkerLease
  {
  public:
    // As WorkerPool::Take()
    explicit WorkerLease(WorkerPool& pool, TimePoint deadline = TimePoint::max()) :
      pool_(pool),
      worker_(pool.Take(deadline))
    {
    }

    WorkerLease(const WorkerLease&) = delete;
    WorkerLease& operator=(const WorkerLease&) = delete;

    ~WorkerLease()
    {
      pool_.GiveBack(std::move(worker_));
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
