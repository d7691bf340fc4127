// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Worker/IsolatedEngine.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

namespace OrthancPerf
{
  IsolatedEngine::IsolatedEngine(std::string name, std::filesystem::path program,
                                 std::size_t maximumWorkers, const WorkerLimits& limits) :
    name_(std::move(name)),
    program_(program.filename().string()),
    limits_(limits),
    pool_(std::move(program), maximumWorkers, limits.startup)
  {
  }


  IsolatedEngine::~IsolatedEngine()
  {
    pool_.Stop();
    const std::unique_lock<std::shared_mutex> lock(calls_);
  }


  std::string IsolatedEngine::Describe(const std::string& failure) const
  {
    return "the program " + program_ + " " + failure;
  }


  std::string IsolatedEngine::GetProblem() const
  {
    const std::shared_lock<std::shared_mutex> lock(calls_);

    try
    {
      const WorkerLease worker(pool_);
      return {};
    }
    catch (const std::exception& error)
    {
      return Describe(error.what());
    }
  }


  EngineResult IsolatedEngine::Transcode(const void* data, std::size_t size,
                                         const TranscodingTarget& target) const noexcept
  {
    const std::shared_lock<std::shared_mutex> lock(calls_);

    try
    {
      return TranscodeOrSayWhyNot(data, size, target);
    }
    catch (const std::exception&)
    {
      EngineResult failed;
      failed.reason = "No memory";  // short enough to need none
      return failed;
    }
  }


  EngineResult IsolatedEngine::TranscodeOrSayWhyNot(const void* data, std::size_t size,
                                                    const TranscodingTarget& target) const
  {
    try
    {
      const WorkerLease worker(pool_, target.deadline);
      WorkerLimits limits = limits_.ForSource(size);
      limits.time = std::min(limits.time, GetTimeLeft(target.deadline));
      return worker->Transcode(data, size, target, limits);
    }
    catch (const std::bad_alloc&)
    {
      throw;
    }
    catch (const std::exception& error)
    {
      return EngineResult::MakeFailed(Describe(error.what()));
    }
  }
}
