// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/JobWatch.h"

#include <exception>
#include <utility>

namespace OrthancPerf
{
  JobWatch::JobWatch(Ask ask, Post post) : ask_(std::move(ask)), post_(std::move(post))
  {
  }


  std::optional<JobWatch::Types> JobWatch::GetTypes(Duration patience)
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const std::uint64_t own = ++countWanted_;
    post_([this] { AskOnce(); });
    answered_.wait_for(lock, patience, [this, own] { return countAnswered_ >= own; });
    return countAnswered_ >= own ? types_ : std::nullopt;
  }


  void JobWatch::AskOnce()
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const std::uint64_t wanted = countWanted_;

    if (wanted == countAnswered_)
    {
      return;  // the one before has asked for all
    }

    lock.unlock();

    std::optional<Types> types;
    std::exception_ptr failure;

    try
    {
      types = ask_();
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
