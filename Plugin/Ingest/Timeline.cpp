// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/Timeline.h"

namespace OrthancPerf
{
  Timeline::Timeline(TimePoint begin) : lastMark_(begin)
  {
  }

  void Timeline::Mark(Phase phase, TimePoint now)
  {
    const TimePoint mark = now > lastMark_ ? now : lastMark_;
    phases_.Add(phase, mark - lastMark_);
    lastMark_ = mark;
  }

  void Timeline::AddBeside(Phase phase, Duration duration)
  {
    phases_.Add(phase, duration);
  }
}
