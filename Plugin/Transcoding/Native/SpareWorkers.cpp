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

    for (bool isFree = true; isFree && helpers.size() + 1 < count;)
    {
      isFree = busy_++ < cores_;

      try
      {
        if (isFree)
        {
          helpers.push_back(std::async(std::launch::async, workOn));
        }
      }
      catch (const std::exception&)
      {
        isFree = false;  // no thread or no memory to be had: the caller does it alone
      }

      busy_ -= isFree ? 0 : 1;
    }

    workOn();

    for (std::future<void>& helper : helpers)
    {
      helper.get();
    }
  }
}
