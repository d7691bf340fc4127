// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/Phase.h"

namespace OrthancPerf
{
  namespace
  {
    constexpr std::array<const char*, PHASE_COUNT> LABELS = {
        "idle",    "receive",   "parse", "transcode", "prepare", "storage",
        "sync",    "remote",    "index", "database",  "commit",  "respond",
        "connect", "associate", "send",  "wait",      "work"};

    std::size_t ToIndex(Phase phase)
    {
      return static_cast<std::size_t>(phase);
    }
  }

  const char* ToLabel(Phase phase)
  {
    return LABELS.at(ToIndex(phase));
  }

  bool IsPartOfDuration(Phase phase)
  {
    return phase != Phase::Idle && phase != Phase::Sync && phase != Phase::Remote &&
           phase != Phase::Database;
  }

  void PhaseDurations::Add(Phase phase, Duration duration)
  {
    std::optional<Duration>& total = durations_[ToIndex(phase)];
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
    return durations_[ToIndex(phase)];
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
