// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Admission/AdmissionQueue.h"
#include "Advisor/Evidence.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>

namespace OrthancPerf
{
  // What this process has of main memory, in bytes; 0: not known
  struct ProcessMemory
  {
    std::uint64_t anonymous = 0;  // RssAnon of proc(5): what is no file's
    std::uint64_t peak = 0;       // VmHWM: the most that it ever had, files included

    // Any thread. Reads a file.
    static ProcessMemory Read(const std::string& proc = "/proc");
  };


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
      double received = 0;  // seconds of all since the start, with pauses
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
