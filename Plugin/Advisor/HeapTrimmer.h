// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>

namespace OrthancPerf
{
  // Has malloc(3) give back to the kernel what it keeps of free memory, every so often
  // (malloc_trim(3)): with its arenas' locks held, one after the other, for which threads that
  // ingest may wait.
  //
  // The period may be set by any thread; one thread looks.
  class HeapTrimmer
  {
  public:
    using Trim = std::function<void()>;

    // By itself, it asks the C library. An empty function: malloc cannot be asked for that.
    explicit HeapTrimmer(Trim trim = FindTrim());

    // Zero: never
    void SetPeriod(std::chrono::seconds period) noexcept;

    // Trims if it is time to. To be called at least once a second.
    void Look(TimePoint now);

  private:
    static Trim FindTrim();

    const Trim trim_;
    std::atomic<std::chrono::seconds> period_ = std::chrono::seconds(0);
    std::optional<TimePoint> trimmedAt_;
  };
}
