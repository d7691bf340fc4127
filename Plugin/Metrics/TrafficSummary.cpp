// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/TrafficSummary.h"

#include <numeric>

namespace OrthancPerf
{
  void TrafficSummary::Add(const FinishedInstance& instance) noexcept
  {
    TrafficBucket::Add(instance);
    bool hasDuration = false;

    for (const Phase phase : GetAllPhases())
    {
      if (const std::optional<Duration> time = instance.phases.Get(phase))
      {
        latencies[static_cast<std::size_t>(phase)].Add(ToSeconds(*time));
        hasDuration = hasDuration || IsPartOfDuration(phase);
      }
    }

    if (hasDuration)
    {
      duration.Add(ToSeconds(instance.phases.GetTotal()));
    }
  }


  void TrafficSummary::Add(const TrafficSummary& other) noexcept
  {
    TrafficBucket::Add(other);
    duration.Add(other.duration);

    for (std::size_t i = 0; i < PHASE_COUNT; i++)
    {
      latencies[i].Add(other.latencies[i]);
    }
  }


  void ReadSummary::Add(const FinishedRequest& request) noexcept
  {
    bytes += request.bytesSent;
    statuses[request.GetStatusPlace()]++;
    clientWait += request.clientWait;

    for (std::size_t i = 0; i < REQUEST_PHASES.size(); i++)
    {
      if (request.phases[i])
      {
        phases[i].Add(ToSeconds(*request.phases[i]));
      }
    }
  }


  void ReadSummary::Add(const ReadSummary& other) noexcept
  {
    bytes += other.bytes;
    clientWait += other.clientWait;

    for (std::size_t i = 0; i < statuses.size(); i++)
    {
      statuses[i] += other.statuses[i];
    }

    for (std::size_t i = 0; i < REQUEST_PHASES.size(); i++)
    {
      phases[i].Add(other.phases[i]);
    }
  }


  std::uint64_t ReadSummary::CountRequests() const noexcept
  {
    return std::accumulate(statuses.begin(), statuses.end(), std::uint64_t{0});
  }


  std::uint64_t ReadSummary::CountFailed() const noexcept
  {
    constexpr std::size_t SERVER_ERROR = 5;  // "5xx"
    return statuses[SERVER_ERROR] + statuses.back();
  }
}
