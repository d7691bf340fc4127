// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Worker/WorkerEngine.h"

#include <algorithm>
#include <exception>
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
    Call(const WorkerEngine& engine, TimePoint deadline) : engine_(engine), deadline_(deadline)
    {
      std::unique_lock<std::mutex> lock(engine_.mutex_);
      const bool isFree =
          engine_.available_.wait_until(lock, deadline,
                                        [this]
                                        {
                                          slot_ = engine_.FindFreeSlot();
                                          return engine_.isStopped_ || slot_ != nullptr;
                                        });

      if (engine_.isStopped_)
      {
        throw WorkerFailure("is being stopped");
      }

      if (!isFree)
      {
        throw WorkerFailure("was busy with other instances until the time for this one was over");
      }

      slot_->isBusy = true;
      slot_->since = Clock::now();
    }

    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    ~Call()
    {
      std::unique_ptr<WorkerProcess> ended;
      std::unique_lock<std::mutex> lock(engine_.mutex_);
      slot_->since = TimePoint::min();

      if (slot_->process != nullptr && slot_->process->IsAlive())
      {
        slot_->since = engine_.answered_ = Clock::now();
      }
      else
      {
        ended = std::move(slot_->process);
      }

      lock.unlock();
      ended.reset();  // to end a process takes a moment
      lock.lock();
      slot_->isBusy = false;
      engine_.available_.notify_one();
    }

    // An idle one, or a new one that is ready. Throws WorkerFailure, std::system_error.
    WorkerProcess& GetWorker()
    {
      if (slot_->process == nullptr || !slot_->process->IsAlive())
      {
        auto process = std::make_unique<WorkerProcess>(engine_.program_);
        std::unique_lock<std::mutex> lock(engine_.mutex_);
        slot_->process.swap(process);

        if (engine_.isStopped_)
        {
          slot_->process->Interrupt();
        }

        lock.unlock();
        slot_->process->WaitUntilReady(std::min(engine_.limits_.startup, GetTimeLeft(deadline_)));
      }

      return *slot_->process;
    }

  private:
    const WorkerEngine& engine_;
    const TimePoint deadline_;
    Slot* slot_ = nullptr;
  };

  WorkerEngine::WorkerEngine(std::string name, std::filesystem::path program,
                             std::size_t maximumWorkers, const WorkerLimits& limits) :
    name_(std::move(name)),
    program_(std::move(program)),
    limits_(limits),
    slots_(std::max<std::size_t>(
        maximumWorkers == 0 ? std::thread::hardware_concurrency() : maximumWorkers, 1))
  {
  }

  WorkerEngine::~WorkerEngine()
  {
    WorkerEngine::Stop();
    const std::unique_lock<std::shared_mutex> lock(running_);
  }

  // That of the worker that was used last; nullptr: all are busy
  WorkerEngine::Slot* WorkerEngine::FindFreeSlot() const noexcept
  {
    Slot* found = nullptr;

    for (Slot& slot : slots_)
    {
      if (!slot.isBusy && (found == nullptr || slot.since > found->since))
      {
        found = &slot;
      }
    }

    return found;
  }

  void WorkerEngine::Stop() noexcept
  {
    WorkerEngine::Tidy(TimePoint::max());
  }

  void WorkerEngine::Tidy(TimePoint hanging) noexcept
  {
    const TimePoint idle = Clock::now() - IDLE_LIMIT;

    for (Slot& slot : slots_)
    {
      std::unique_ptr<WorkerProcess> ended;  // which takes a moment, without the lock
      const std::lock_guard<std::mutex> lock(mutex_);
      isStopped_ = isStopped_ || hanging == TimePoint::max();

      if (slot.process != nullptr && slot.isBusy && slot.since <= hanging)
      {
        slot.process->Interrupt();
        isStopped_ = isStopped_ || answered_ <= hanging;
      }

      if (slot.process != nullptr && !slot.isBusy &&
          (slot.since < idle || !slot.process->IsAlive()))
      {
        ended = std::move(slot.process);
        slot.since = TimePoint::min();
      }

      if (isStopped_)
      {
        available_.notify_all();
      }
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
      Call(*this, TimePoint::max()).GetWorker();
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
    return EngineResult::Of(
        [&]
        {
          try
          {
            Call call(*this, target.deadline);
            WorkerProcess& worker = call.GetWorker();
            WorkerLimits limits = limits_.ForSource(size);
            limits.time = std::min(limits.time, GetTimeLeft(target.deadline));
            return worker.Transcode(data, size, target, limits);
          }
          catch (const std::runtime_error& error)
          {
            throw WorkerFailure(Describe(error.what()));
          }
        });
  }
}
