// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Worker/WorkerPool.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Before the worker itself would end, so that none is asked at that very moment
    constexpr std::chrono::seconds IDLE_LIMIT = WORKER_IDLE_LIMIT - std::chrono::seconds(10);


    // Why it can't be started, as far as the file system says; empty: nothing is known against it
    std::string FindProblem(const std::filesystem::path& program)
    {
      struct stat status = {};

      if (stat(program.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
      {
        return "is missing: " + program.string();
      }

      return access(program.c_str(), X_OK) == 0 ? "" : "may not be executed: " + program.string();
    }
  }


  std::chrono::milliseconds GetTimeLeft(TimePoint deadline)
  {
    const TimePoint now = Clock::now();

    if (deadline <= now)
    {
      throw WorkerFailure("was not asked, as the time for this instance was over");
    }

    return std::chrono::ceil<std::chrono::milliseconds>(deadline - now);
  }


  WorkerPool::WorkerPool(std::filesystem::path program, std::size_t maximum,
                         std::chrono::milliseconds startup) :
    program_(std::move(program)),
    maximum_(
        std::max<std::size_t>(maximum == 0 ? std::thread::hardware_concurrency() : maximum, 1)),
    startup_(startup)
  {
    idle_.reserve(maximum_);  // Release() must not fail
  }


  void WorkerPool::Stop() noexcept
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    isStopped_ = true;
    available_.notify_all();

    for (const auto& [worker, since] : busy_)
    {
      worker->Interrupt();
    }
  }


  void WorkerPool::Tidy(TimePoint hanging) noexcept
  {
    Idles dead;
    const std::lock_guard<std::mutex> lock(mutex_);

    for (const auto& [worker, since] : busy_)
    {
      if (since <= hanging)
      {
        worker->Interrupt();
        isStopped_ = isStopped_ || answered_ <= hanging;
      }
    }

    if (isStopped_)
    {
      available_.notify_all();
    }

    try
    {
      RemoveExpired(dead);
    }
    catch (const std::bad_alloc&)
    {
      // The next time, then
    }
  }


  std::unique_ptr<WorkerProcess> WorkerPool::Acquire(TimePoint deadline)
  {
    Idles dead;  // waited for when the lock is released
    std::unique_lock<std::mutex> lock(mutex_);
    RemoveExpired(dead);

    const bool isFree = available_.wait_until(
        lock, deadline, [this] { return isStopped_ || busy_.size() + inTransit_ < maximum_; });

    if (isStopped_)
    {
      throw WorkerFailure("is being stopped");
    }

    if (!isFree)
    {
      throw WorkerFailure("was busy with other instances until the time for this one was over");
    }

    std::unique_ptr<WorkerProcess> worker = PopIdle(dead);

    if (worker == nullptr)
    {
      return Start(lock, deadline);
    }

    busy_.emplace(worker.get(), Clock::now());
    return worker;
  }


  void WorkerPool::Release(std::unique_ptr<WorkerProcess> worker) noexcept
  {
    std::unique_lock<std::mutex> lock(mutex_);
    busy_.erase(worker.get());

    if (worker->IsAlive())
    {
      answered_ = Clock::now();
      idle_.push_back({std::move(worker), answered_});
    }
    else
    {
      // To end a process takes a moment
      inTransit_++;
      lock.unlock();
      worker.reset();
      lock.lock();
      inTransit_--;
    }

    available_.notify_one();
  }


  std::unique_ptr<WorkerProcess> WorkerPool::PopIdle(Idles& dead)
  {
    while (!idle_.empty())
    {
      Idle last = std::move(idle_.back());
      idle_.pop_back();

      if (last.worker->IsAlive())
      {
        return std::move(last.worker);
      }

      dead.push_back(std::move(last));
    }

    return nullptr;
  }


  void WorkerPool::RemoveExpired(Idles& dead)
  {
    const auto limit = Clock::now() - IDLE_LIMIT;
    const auto first = std::stable_partition(
        idle_.begin(), idle_.end(),
        [limit](const Idle& idle) { return idle.since >= limit && idle.worker->IsAlive(); });
    dead.insert(dead.end(), std::make_move_iterator(first), std::make_move_iterator(idle_.end()));
    idle_.erase(first, idle_.end());
  }


  std::unique_ptr<WorkerProcess> WorkerPool::Start(std::unique_lock<std::mutex>& lock,
                                                   TimePoint deadline)
  {
    // Why it failed; empty: it did not
    const auto attempt = [this](const auto& step) -> std::string
    {
      try
      {
        try
        {
          step();
          return {};
        }
        catch (const std::exception& error)
        {
          const std::string problem = FindProblem(program_);
          return problem.empty() ? error.what() : problem;
        }
      }
      catch (const std::bad_alloc&)
      {
        return "No memory";  // short enough to need none
      }
    };

    inTransit_++;
    lock.unlock();

    std::unique_ptr<WorkerProcess> worker;
    std::string problem = attempt([&] { worker = std::make_unique<WorkerProcess>(program_); });

    lock.lock();
    inTransit_--;

    if (worker == nullptr)
    {
      available_.notify_one();
      throw WorkerFailure(problem);
    }

    busy_.emplace(worker.get(), Clock::now());

    if (isStopped_)
    {
      worker->Interrupt();
    }

    lock.unlock();
    problem = attempt([&] { worker->WaitUntilReady(std::min(startup_, GetTimeLeft(deadline))); });

    if (!problem.empty())
    {
      Release(std::move(worker));
      throw WorkerFailure(problem);
    }

    return worker;
  }
}
