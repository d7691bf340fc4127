// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Admission/AdmissionQueue.h"
#include "Advisor/Evidence.h"
#include "Advisor/ProcessMemory.h"

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

    // As of now; what is counted, is so since the start
    struct Ingest
    {
      AdmissionFigures budget;
      bool canWait = true;  // the socket probe is there, without which no budget is in effect
      double received = 0;  // EvidenceCollector::GetSecondsReceived
    };

    explicit MemoryWatch(ReadProcess read = [] { return ProcessMemory::Read(); });

    // To be called at least once in a period
    MemoryEvidence Look(const Ingest& ingest, TimePoint now);

  private:
    struct Sample
    {
      TimePoint time;
      Ingest ingest;
      ProcessMemory process;
    };

    const ReadProcess read_;
    std::deque<Sample> samples_;  // the oldest first
  };
}
