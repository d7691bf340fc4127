// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Engines/TranscodingEngine.h"
#include "Transcoding/Worker/WorkerProcess.h"

#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // An engine in processes of its own: whatever a codec does to its process (crash, hang, eat all
  // memory), here it is a result that says so, and the next call gets another process. The program
  // is one of those whose main function is RunWorker(). Its processes are started when they are
  // needed, each serves one call at a time, and those that have nothing to do end after a minute.
  // Nothing is started before the first call. Destruction makes running calls fail at once.
  class WorkerEngine : public ITranscodingEngine
  {
  public:
    // "maximumWorkers": how many calls are served at a time, the others wait; zero: as many as
    // there are hardware threads.
    WorkerEngine(std::string name, std::filesystem::path program, std::size_t maximumWorkers,
                 const WorkerLimits& limits = {});

    WorkerEngine(const WorkerEngine&) = delete;
    WorkerEngine& operator=(const WorkerEngine&) = delete;

    ~WorkerEngine() override;

    const char* GetName() const noexcept override
    {
      return name_.c_str();
    }

    // Asks an idle process, or starts one: some milliseconds
    std::string GetProblem() const override;

    EngineResult Transcode(const void* data, std::size_t size,
                           const TranscodingTarget& target) const noexcept override;

    // No worker can be had from now on, and those at work are interrupted
    void Stop() noexcept override;

    // Ends the workers that have rested for long, and waits for those that were ended by others.
    // Interrupts those at work since "hanging"; if none has answered since, this is Stop().
    void Tidy(TimePoint hanging) noexcept override;

  private:
    class Call;

    // One of the calls that are served at a time
    struct Slot
    {
      std::unique_ptr<WorkerProcess> process;  // empty: one is started by the next call
      bool isBusy = false;
      TimePoint since = TimePoint::min();  // busy or idle, with a process
    };

    Slot* FindFreeSlot() const noexcept;
    std::string Describe(const std::string& failure) const;

    const std::string name_;
    const std::filesystem::path program_;
    const WorkerLimits limits_;

    mutable std::mutex mutex_;
    mutable std::condition_variable available_;  // a slot is free, or none ever again
    mutable std::vector<Slot> slots_;
    mutable TimePoint answered_;  // when one was last released alive
    bool isStopped_ = false;
    mutable std::shared_mutex running_;  // shared by all calls
  };
}
