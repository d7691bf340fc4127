// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/Phase.h"

namespace OrthancPerf
{
  namespace
  {
    struct PhaseNames
    {
      const char* label;
      const char* key;
    };

    constexpr std::array<PhaseNames, PHASE_COUNT> NAMES = {{
        {"idle", "Idle"},
        {"receive", "Receive"},
        {"parse", "Parse"},
        {"transcode", "Transcode"},
        {"prepare", "Prepare"},
        {"storage", "Storage"},
        {"sync", "Sync"},
        {"remote", "Remote"},
        {"index", "Index"},
        {"database", "Database"},
        {"commit", "Commit"},
        {"respond", "Respond"},
        {"connect", "Connect"},
        {"associate", "Associate"},
        {"send", "Send"},
        {"wait", "Wait"},
    }};

    std::size_t ToIndex(Phase phase)
    {
      return static_cast<std::size_t>(phase);
    }
  }

  const std::array<Phase, PHASE_COUNT>& GetAllPhases()
  {
    static const std::array<Phase, PHASE_COUNT> ALL = {
        Phase::Idle,    Phase::Receive,   Phase::Parse,  Phase::Transcode,
        Phase::Prepare, Phase::Storage,   Phase::Sync,   Phase::Remote,
        Phase::Index,   Phase::Database,  Phase::Commit, Phase::Respond,
        Phase::Connect, Phase::Associate, Phase::Send,   Phase::Wait};
    return ALL;
  }

  const char* ToLabel(Phase phase)
  {
    return NAMES.at(ToIndex(phase)).label;
  }

  const char* ToKey(Phase phase)
  {
    return NAMES.at(ToIndex(phase)).key;
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
