// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/MemoryWatch.h"

#include <fstream>
#include <utility>

namespace OrthancPerf
{
  ProcessMemory ProcessMemory::Read(const std::string& proc)
  {
    ProcessMemory memory;
    std::ifstream file(proc + "/self/status");

    // "VmHWM:     31236 kB"
    for (std::string key; file >> key;)
    {
      std::uint64_t* const place = key == "VmHWM:"     ? &memory.peak
                                   : key == "RssAnon:" ? &memory.anonymous
                                                       : nullptr;
      std::uint64_t kibibytes = 0;

      if (place != nullptr && file >> kibibytes)
      {
        *place = kibibytes * 1024;
      }
    }

    return memory;
  }


  MemoryWatch::MemoryWatch(ReadProcess read) : read_(std::move(read))
  {
  }


  MemoryEvidence MemoryWatch::Look(const Ingest& ingest, TimePoint now)
  {
    if (samples_.empty() || now - samples_.back().time >= PERIOD)
    {
      samples_.push_back({now, ingest, read_()});
    }

    while (now - samples_.front().time > REMEMBERED)
    {
      samples_.pop_front();
    }

    const Sample& oldest = samples_.front();
    const ProcessMemory& process = samples_.back().process;

    const AdmissionFigures& budget = ingest.budget;
    const AdmissionFigures& before = oldest.ingest.budget;

    MemoryEvidence evidence;
    evidence.canWait = ingest.canWait;
    evidence.budget = ingest.canWait ? budget.limit : 0;
    evidence.waits = budget.waits - before.waits;
    evidence.waited = ToSeconds(budget.waited - before.waited);
    evidence.received = ingest.received - oldest.ingest.received;
    evidence.givenUp = budget.givenUp - before.givenUp;
    evidence.recentPeak = process.peak > oldest.process.peak ? process.peak : 0;
    return evidence;
  }
}
