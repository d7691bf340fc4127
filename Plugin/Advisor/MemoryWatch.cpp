// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/MemoryWatch.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
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
