// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Phase.h"

#include <algorithm>

namespace OrthancPerf
{
  // The way of one instance through its phases: a row of marks without a gap, each of which says
  // to which phase the time since the mark before it belonged. So the phases always sum to the
  // time from begin to the last mark. A value owned by the ingesting thread; not thread-safe.
  class Timeline
  {
  public:
    explicit Timeline(TimePoint begin) : lastMark_(begin)
    {
    }

    // The time since the previous mark belonged to "phase". A time before the previous mark
    // counts as that mark: phases are never negative.
    void Mark(Phase phase, TimePoint now)
    {
      const TimePoint mark = std::max(now, lastMark_);
      phases_.Add(phase, mark - lastMark_);
      lastMark_ = mark;
    }

    // Time inside a phase, reported beside it (Phase::Sync, Phase::Remote, Phase::Database), or
    // before the begin (Phase::Idle)
    void AddBeside(Phase phase, Duration duration)
    {
      phases_.Add(phase, duration);
    }

    TimePoint GetLastMark() const
    {
      return lastMark_;
    }

    const PhaseDurations& GetPhases() const
    {
      return phases_;
    }

  private:
    TimePoint lastMark_;
    PhaseDurations phases_;
  };
}
