// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/Phase.h"

namespace OrthancPerf
{
  void PhaseDurations::Add(Phase phase, Duration duration)
  {
    std::optional<Duration>& total = durations_[static_cast<std::size_t>(phase)];
    total = total.value_or(Duration::zero()) + duration;
  }

  void PhaseDurations::Add(const PhaseDurations& other)
  {
    for (const Phase phase : GetAllPhases())
    {
      if (const std::optional<Duration> duration = other.Get(phase))
      {
        Add(phase, *duration);
      }
    }
  }

  std::optional<Duration> PhaseDurations::Get(Phase phase) const
  {
    return durations_[static_cast<std::size_t>(phase)];
  }

  Duration PhaseDurations::GetTotal() const
  {
    Duration total = Duration::zero();

    for (const Phase phase : GetAllPhases())
    {
      if (IsPartOfDuration(phase))
      {
        total += Get(phase).value_or(Duration::zero());
      }
    }

    return total;
  }
}
