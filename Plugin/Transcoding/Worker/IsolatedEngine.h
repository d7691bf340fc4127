// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Engines/TranscodingEngine.h"
#include "Transcoding/Worker/WorkerPool.h"

#include <cstddef>
#include <filesystem>
#include <shared_mutex>
#include <string>

namespace OrthancPerf
{
  // An engine in processes of its own: whatever a codec does to its process (crash, hang, eat all
  // memory), here it is a result that says so, and the next call gets another process. The program
  // is one of those whose main function is RunWorker(). Its processes are started when they are
  // needed, each serves one call at a time, and those that have nothing to do end after a minute.
  // Nothing is started before the first call. Destruction makes running calls fail at once.
  class IsolatedEngine : public ITranscodingEngine
  {
  public:
    // "maximumWorkers": how many calls are served at a time, the others wait; zero: as many as
    // there are hardware threads.
    IsolatedEngine(std::string name, std::filesystem::path program, std::size_t maximumWorkers,
                   const WorkerLimits& limits = {});

    IsolatedEngine(const IsolatedEngine&) = delete;
    IsolatedEngine& operator=(const IsolatedEngine&) = delete;

    ~IsolatedEngine() override;

    const char* GetName() const noexcept override
    {
      return name_.c_str();
    }

    // Asks an idle process, or starts one: some milliseconds
    std::string GetProblem() const override;

    EngineResult Transcode(const void* data, std::size_t size,
                           const TranscodingTarget& target) const noexcept override;

    void Stop() noexcept override
    {
      pool_.Stop();
    }

    // Processes that rest, or have ended, are waited for (waitpid(2)) here or at the next call
    void Tidy(TimePoint hanging) noexcept override
    {
      pool_.Tidy(hanging);
    }

  private:
    EngineResult TranscodeOrSayWhyNot(const void* data, std::size_t size,
                                      const TranscodingTarget& target) const;
    std::string Describe(const std::string& failure) const;

    const std::string name_;
    const std::string program_;  // without its folder
    const WorkerLimits limits_;
    mutable WorkerPool pool_;
    mutable std::shared_mutex calls_;  // shared by the running calls
  };
}
