// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/HistoryPoint.h"

namespace OrthancPerf
{
  void TrafficPoint::Add(const FinishedInstance& instance) noexcept
  {
    instances++;
    bytes += instance.size;
    failed += instance.outcome == Outcome::Failed ? 1 : 0;
    stalls += instance.stalls;
    stallSeconds += static_cast<float>(ToSeconds(instance.stallTime));
    remoteRoundTrips += instance.remote ? instance.remote->roundTrips : 0;
    databaseRoundTrips += instance.database ? instance.database->roundTrips : 0;

    for (const Phase phase : GetAllPhases())
    {
      if (const std::optional<Duration> duration = instance.phases.Get(phase))
      {
        const auto place = static_cast<std::size_t>(phase);
        phaseSeconds[place] += static_cast<float>(ToSeconds(*duration));
        observedPhases |= 1U << place;
      }
    }
  }
}
