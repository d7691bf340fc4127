// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Evidence.h"
#include "Advisor/ProcessMemory.h"
#include "Ingest/IngestBudget.h"

#include <chrono>
#include <deque>
#include <functional>

namespace OrthancPerf
{
  // What memory has lately been short of: the last five minutes, as they were found by looking each
  // five seconds. Owned by the plugin's context, whose housekeeping alone calls it.
  class MemoryWatch
  {
  public:
    using ReadProcess = std::function<ProcessMemory()>;

    static constexpr std::chrono::seconds PERIOD{5};
    static constexpr std::chrono::minutes REMEMBERED{5};
    static constexpr std::chrono::minutes LASTING{1};

    explicit MemoryWatch(ReadProcess read = [] { return ProcessMemory::Read(); });

    // To be called at least once in a period
    MemoryEvidence Look(const BudgetFigures& budget, TimePoint now);

  private:
    struct Sample
    {
      TimePoint time;
      BudgetFigures budget;
      ProcessMemory process;
    };

    std::uint64_t GetLastingKept() const;

    const ReadProcess read_;
    std::deque<Sample> samples_;  // the oldest first
  };
}
