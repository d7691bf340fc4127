// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Worker/WorkerEngine.h"

#include <algorithm>
#include <exception>
#include <new>
#include <thread>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Before the worker itself would end, so that none is asked at that very moment
    constexpr std::chrono::seconds IDLE_LIMIT = WORKER_IDLE_LIMIT - std::chrono::seconds(10);


    std::chrono::milliseconds GetTimeLeft(TimePoint deadline)
    {
      const TimePoint now = Clock::now();

      if (deadline <= now)
      {
        throw WorkerFailure("was not asked, as the time for this instance was over");
      }

      return std::chrono::ceil<std::chrono::milliseconds>(deadline - now);
    }
  }


  // One of the calls that are served at a time, and its worker. Lives on the stack of one thread.
  class WorkerEngine::Call
  {
  public:
    // Waits while as many are served as may be. Throws WorkerFailure if that lasts until the
    // deadline, or if the engine is stopped.
    Call(const WorkerEngine& engine, TimePoint deadline) : engine_(engine)
    {
      std::unique_lock<std::mutex> lock(engine_.mutex_);
      const bool isFree = engine_.available_.wait_until(
          lock, deadline, [&] { return engine_.isStopped_ || engine_.calls_ < engine_.maximum_; });

      if (engine_.isStopped_)
      {
        throw WorkerFailure("is being stopped");
      }

      if (!isFree)
      {
        throw WorkerFailure("was busy with other instances until the time for this one was over");
      }

      engine_.calls_++;

      while (worker_ == nullptr && !engine_.idle_.empty())
      {
        worker_ = std::move(engine_.idle_.back().process);
        engine_.idle_.pop_back();

        if (!worker_->IsAlive())
        {
          worker_.reset();
        }
      }

      if (worker_ != nullptr)
      {
        engine_.busy_.push_back({worker_.get(), Clock::now()});
      }
    }

    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    ~Call()
    {
      std::unique_lock<std::mutex> lock(engine_.mutex_);
      auto& busy = engine_.busy_;
      busy.erase(std::remove_if(busy.begin(), busy.end(),
                                [this](const BusyWorker& worker)
                                { return worker.process == worker_.get(); }),
                 busy.end());

      if (worker_ != nullptr && worker_->IsAlive())
      {
        engine_.answered_ = Clock::now();
        engine_.idle_.push_back({std::move(worker_), engine_.answered_});
      }

      lock.unlock();
      worker_.reset();  // to end a process takes a moment
      lock.lock();
      engine_.calls_--;
      engine_.available_.notify_one();
    }

    // An idle one, or a new one that is ready. Throws WorkerFailure, std::system_error.
    WorkerProcess& GetWorker(TimePoint deadline)
    {
      if (worker_ == nullptr)
      {
        worker_ = std::make_unique<WorkerProcess>(engine_.program_);
        std::unique_lock<std::mutex> lock(engine_.mutex_);
        engine_.busy_.push_back({worker_.get(), Clock::now()});

        if (engine_.isStopped_)
        {
          worker_->Interrupt();
        }

        lock.unlock();
        worker_->WaitUntilReady(std::min(engine_.limits_.startup, GetTimeLeft(deadline)));
      }

      return *worker_;
    }

  private:
    const WorkerEngine& engine_;
    std::unique_ptr<WorkerProcess> worker_;
  };


  WorkerEngine::WorkerEngine(std::string name, std::filesystem::path program,
                             std::size_t maximumWorkers, const WorkerLimits& limits) :
    name_(std::move(name)),
    program_(std::move(program)),
    maximum_(std::max<std::size_t>(
        maximumWorkers == 0 ? std::thread::hardware_concurrency() : maximumWorkers, 1)),
    limits_(limits)
  {
    busy_.reserve(maximum_);  // calls begin and end without memory
    idle_.reserve(maximum_);
  }


  WorkerEngine::~WorkerEngine()
  {
    WorkerEngine::Stop();
    const std::unique_lock<std::shared_mutex> lock(running_);
  }


  void WorkerEngine::Stop() noexcept
  {
    WorkerEngine::Tidy(TimePoint::max());
  }


  void WorkerEngine::Tidy(TimePoint hanging) noexcept
  {
    std::unique_lock<std::mutex> lock(mutex_);
    isStopped_ = isStopped_ || hanging == TimePoint::max();

    for (const BusyWorker& worker : busy_)
    {
      if (worker.since <= hanging)
      {
        worker.process->Interrupt();
        isStopped_ = isStopped_ || answered_ <= hanging;
      }
    }

    if (isStopped_)
    {
      available_.notify_all();
    }

    const TimePoint limit = Clock::now() - IDLE_LIMIT;
    const auto isOver = [limit](const IdleWorker& worker)
    {
      return worker.since < limit || !worker.process->IsAlive();
    };

    for (auto over = std::find_if(idle_.begin(), idle_.end(), isOver); over != idle_.end();
         over = std::find_if(idle_.begin(), idle_.end(), isOver))
    {
      std::unique_ptr<WorkerProcess> ended = std::move(over->process);
      idle_.erase(over);
      lock.unlock();
      ended.reset();  // takes a moment
      lock.lock();
    }
  }


  std::string WorkerEngine::Describe(const std::string& failure) const
  {
    return "the program " + program_.filename().string() + " " + failure;
  }


  std::string WorkerEngine::GetProblem() const
  {
    const std::shared_lock<std::shared_mutex> lock(running_);

    try
    {
      Call(*this, TimePoint::max()).GetWorker(TimePoint::max());
      return {};
    }
    catch (const std::exception& error)
    {
      return Describe(error.what());
    }
  }


  EngineResult WorkerEngine::Transcode(const void* data, std::size_t size,
                                       const TranscodingTarget& target) const noexcept
  {
    const std::shared_lock<std::shared_mutex> lock(running_);
    EngineResult failed;

    try
    {
      try
      {
        Call call(*this, target.deadline);
        WorkerProcess& worker = call.GetWorker(target.deadline);
        WorkerLimits limits = limits_.ForSource(size);
        limits.time = std::min(limits.time, GetTimeLeft(target.deadline));
        return worker.Transcode(data, size, target, limits);
      }
      catch (const std::bad_alloc&)
      {
        throw;
      }
      catch (const std::exception& error)
      {
        failed.reason = Describe(error.what());
      }
    }
    catch (const std::exception&)
    {
      failed.reason = "No memory";  // short enough to need none
    }

    return failed;
  }
}
