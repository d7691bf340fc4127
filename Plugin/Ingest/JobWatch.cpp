// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/JobWatch.h"

#include <exception>
#include <utility>

namespace OrthancPerf
{
  std::optional<JobWatch::Types> JobWatch::GetTypes(Duration patience)
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const std::uint64_t own = ++countWanted_;
    wanted_.notify_one();
    answered_.wait_for(lock, patience, [this, own] { return countAnswered_ >= own; });
    return countAnswered_ >= own ? types_ : std::nullopt;
  }


  void JobWatch::AnswerNext(const Ask& ask, Duration patience)
  {
    std::unique_lock<std::mutex> lock(mutex_);

    if (!wanted_.wait_for(lock, patience, [this] { return countWanted_ > countAnswered_; }))
    {
      return;
    }

    const std::uint64_t wanted = countWanted_;
    lock.unlock();

    std::optional<Types> types;
    std::exception_ptr failure;

    try
    {
      types = ask();
    }
    catch (const std::exception&)
    {
      failure = std::current_exception();
    }

    lock.lock();
    types_ = std::move(types);
    countAnswered_ = wanted;
    lock.unlock();
    answered_.notify_all();

    if (failure)
    {
      std::rethrow_exception(failure);
    }
  }
}
