// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Worker/SpareWorkers.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    // Gives back what was taken, however the work ends
    class BusyCore
    {
    public:
      explicit BusyCore(std::atomic<std::size_t>& busy) : busy_(busy)
      {
      }

      ~BusyCore()
      {
        busy_--;
      }

      BusyCore(const BusyCore&) = delete;
      BusyCore& operator=(const BusyCore&) = delete;

    private:
      std::atomic<std::size_t>& busy_;
    };
  }


  // The pieces of one call. They belong to the caller, which outlives its helpers.
  class SpareWorkers::Pieces
  {
  public:
    Pieces(std::size_t count, const std::function<void(std::size_t)>& work) :
      count_(count),
      work_(work)
    {
    }

    // Takes piece after piece, as long as "goOn" lets it
    template <typename Predicate>
    void Work(const Predicate& goOn) noexcept
    {
      try
      {
        for (std::size_t i = next_++; i < count_; i = next_++)
        {
          work_(i);

          if (!goOn())
          {
            return;
          }
        }
      }
      catch (...)
      {
        next_ = count_;
        const std::lock_guard<std::mutex> lock(mutex_);
        failure_ = std::current_exception();
      }
    }

    // When all threads have finished
    void Check() const
    {
      if (failure_ != nullptr)
      {
        std::rethrow_exception(failure_);
      }
    }

  private:
    const std::size_t count_;
    const std::function<void(std::size_t)>& work_;
    std::atomic<std::size_t> next_{0};
    std::mutex mutex_;
    std::exception_ptr failure_;
  };


  SpareWorkers::SpareWorkers(std::size_t cores) :
    cores_(std::max<std::size_t>(cores == 0 ? std::thread::hardware_concurrency() : cores, 1))
  {
  }


  bool SpareWorkers::TakeCore() noexcept
  {
    std::size_t busy = busy_;

    while (busy < cores_)
    {
      if (busy_.compare_exchange_weak(busy, busy + 1))
      {
        return true;
      }
    }

    return false;
  }


  void SpareWorkers::Run(std::size_t count, const std::function<void(std::size_t)>& work)
  {
    busy_++;
    const BusyCore caller(busy_);
    Pieces pieces(count, work);
    std::vector<std::thread> helpers;
    helpers.reserve(std::min(cores_, count));  // so that no thread is lost

    while (helpers.size() + 1 < count && TakeCore())
    {
      try
      {
        helpers.emplace_back(
            [this, &pieces]
            {
              const BusyCore helper(busy_);
              pieces.Work([this] { return busy_ <= cores_; });  // makes room for a new caller
            });
      }
      catch (const std::exception&)
      {
        busy_--;  // no thread or no memory to be had: the caller does it alone
        break;
      }
    }

    pieces.Work([] { return true; });

    for (std::thread& helper : helpers)
    {
      helper.join();
    }

    pieces.Check();
  }
}
