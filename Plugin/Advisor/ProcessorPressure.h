// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // How long Orthanc's own threads wait for a processor, by Linux's account of each
  // (/proc/self/task/*/schedstat, https://docs.kernel.org/scheduler/sched-stats.html). What other
  // programs wait for (/proc/pressure) does not matter: one that is nice to all others waits for
  // hours and takes nothing from Orthanc. Owned by the plugin's context; not thread-safe. 10 to
  // 16 microseconds a thread, nearly all of it the kernel's.
  class ProcessorPressure
  {
  public:
    // Of the time of instances: from here on, elapsed time says nothing about a disk or a database.
    // Below, an instance takes four times as long at most. The rules about storing begin at four
    // times what is usual, so what they find is not the processor's doing alone.
    static constexpr double STARVED = 0.75;

    // By thread (gettid(2)), nanoseconds of waiting
    using Waits = std::map<int, std::uint64_t>;
    using ReadWaits = std::function<Waits()>;
    using Now = std::function<TimePoint()>;

    // What each thread has waited, and in how much time
    struct Measurement
    {
      Duration span = Duration::zero();
      Waits waits;
    };

    explicit ProcessorPressure(ReadWaits read = &ReadKernel, Now now = &Clock::now);

    // Since the last call, however long ago that was; nothing the first time, and no waits where
    // the kernel doesn't tell
    Measurement Measure();

    // What each has waited in all
    static Waits ReadKernel();

  private:
    const ReadWaits read_;
    const Now now_;
    std::optional<TimePoint> measuredAt_;
    Waits latest_;
  };


  // The nanoseconds of waiting in the text of a file schedstat; 0: there are none
  std::uint64_t ParseWait(const std::string& text);
}
