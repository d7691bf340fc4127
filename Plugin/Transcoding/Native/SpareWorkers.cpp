// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Native/SpareWorkers.h"

#include <algorithm>
#include <exception>
#include <future>
#include <thread>
#include <vector>

namespace OrthancPerf
{
  SpareWorkers::SpareWorkers(std::size_t cores) :
    cores_(std::max<std::size_t>(cores == 0 ? std::thread::hardware_concurrency() : cores, 1))
  {
  }


  bool SpareWorkers::AcquireCore() noexcept
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
    std::atomic<std::size_t> next{0};

    // Takes piece after piece, on a core that is taken already and that it gives back
    const auto workOn = [this, count, &work, &next]
    {
      try
      {
        for (std::size_t i = next++; i < count; i = next++)
        {
          work(i);
        }
      }
      catch (...)
      {
        next = count;
        busy_--;
        throw;
      }

      busy_--;
    };

    std::vector<std::future<void>> helpers;  // whatever is thrown, their ends are waited for
    helpers.reserve(std::min(cores_, count));
    busy_++;

    while (helpers.size() + 1 < count && AcquireCore())
    {
      try
      {
        helpers.push_back(std::async(std::launch::async, workOn));
      }
      catch (const std::exception&)
      {
        busy_--;  // no thread or no memory to be had: the caller does it alone
        break;
      }
    }

    workOn();

    for (std::future<void>& helper : helpers)
    {
      helper.get();
    }
  }
}
