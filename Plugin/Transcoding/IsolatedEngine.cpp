// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/IsolatedEngine.h"

#include <exception>
#include <utility>

namespace OrthancPerf
{
  IsolatedEngine::IsolatedEngine(std::string name, std::filesystem::path program,
                                 std::size_t maximumWorkers) :
    name_(std::move(name)),
    pool_({std::move(program), name_}, maximumWorkers)
  {
  }


  std::string IsolatedEngine::Describe(const std::string& failure) const
  {
    return "the " + name_ + " program " + failure;
  }


  std::string IsolatedEngine::GetProblem() const
  {
    try
    {
      pool_.GetHello();
      return {};
    }
    catch (const std::exception& error)
    {
      return Describe(error.what());
    }
  }


  bool IsolatedEngine::CanWrite(const std::string& transferSyntax) const noexcept
  {
    try
    {
      return ListsSyntax(pool_.GetHello(), transferSyntax);
    }
    catch (const std::exception&)
    {
      return false;
    }
  }


  EngineResult IsolatedEngine::Transcode(const void* data, std::size_t size,
                                         const TranscodingTarget& target) const noexcept
  {
    try
    {
      return TryTranscode(data, size, target);
    }
    catch (const WorkerRetired&)
    {
      // Its minute without work was over just now
    }
    catch (const std::exception& error)
    {
      return EngineResult::MakeFailed(Describe(error.what()));
    }

    try
    {
      return TryTranscode(data, size, target);
    }
    catch (const std::exception& error)
    {
      return EngineResult::MakeFailed(Describe(error.what()));
    }
  }


  EngineResult IsolatedEngine::TryTranscode(const void* data, std::size_t size,
                                            const TranscodingTarget& target) const
  {
    const WorkerLease worker(pool_);
    return worker->Transcode(data, size, target, WorkerLimits::ForSource(size));
  }
}
