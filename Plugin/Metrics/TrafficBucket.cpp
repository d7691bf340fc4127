// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/TrafficBucket.h"

#include "Admission/AdmissionQueue.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr double TrafficBucket::*SUMS[] = {
        &TrafficBucket::instances,          &TrafficBucket::bytes,
        &TrafficBucket::largeInstances,     &TrafficBucket::largeBytes,
        &TrafficBucket::ownFailures,        &TrafficBucket::stalls,
        &TrafficBucket::stallSeconds,       &TrafficBucket::remoteRoundTrips,
        &TrafficBucket::databaseRoundTrips, &TrafficBucket::latencySeconds,
        &TrafficBucket::queuedSeconds,      &TrafficBucket::pauseSeconds,
        &TrafficBucket::activeSeconds};

    constexpr bool TrafficBucket::*FLAGS[] = {&TrafficBucket::areStallsObserved,
                                              &TrafficBucket::isRemoteObserved,
                                              &TrafficBucket::isDatabaseObserved};
  }


  FinishedInstance ToTraffic(const FinishedRequest& request)
  {
    constexpr Phase PHASES[] = {Phase::Idle,    Phase::Receive, Phase::Work,
                                Phase::Storage, Phase::Work,    Phase::Send};  // of REQUEST_PHASES
    FinishedInstance traffic;
    traffic.size = request.bytesSent;
    traffic.outcome = request.HasFailed() ? Outcome::Failed : Outcome::Stored;

    for (std::size_t i = 0; i < REQUEST_PHASES.size(); i++)
    {
      if (request.phases[i])
      {
        traffic.phases.Add(PHASES[i], *request.phases[i]);
      }
    }

    return traffic;
  }


  void TrafficBucket::Add(const FinishedInstance& instance) noexcept
  {
    const auto size = static_cast<double>(instance.size);
    const bool isLarge = instance.size > AdmissionQueue::PIECE;
    instances++;
    bytes += size;
    largeInstances += isLarge ? 1 : 0;
    largeBytes += isLarge ? size : 0;
    outcomes[static_cast<std::size_t>(instance.outcome)]++;
    ownFailures += instance.isOwnFailure ? 1 : 0;
    areStallsObserved = areStallsObserved || instance.areStallsObserved;
    stalls += instance.stalls;
    stallSeconds += ToSeconds(instance.stallTime);

    if (instance.remote)
    {
      isRemoteObserved = true;
      remoteRoundTrips += instance.remote->roundTrips;
    }

    if (const std::optional<DatabaseRecord>& database = instance.database)
    {
      isDatabaseObserved = true;
      databaseRoundTrips += database->roundTrips;
      latencySeconds += database->roundTrips * ToSeconds(database->shortest);
      queuedSeconds += ToSeconds(database->queued.value_or(Duration::zero()));
    }

    for (const Phase phase : GetAllPhases())
    {
      if (const std::optional<Duration> duration = instance.phases.Get(phase))
      {
        seconds_[static_cast<std::size_t>(phase)] += ToSeconds(*duration);
        counts_[static_cast<std::size_t>(phase)]++;
      }
    }

    const Duration pause = instance.phases.Get(Phase::Idle).value_or(Duration::zero());
    pauseSeconds += pause <= MAXIMUM_PAUSE ? ToSeconds(pause) : 0;
  }


  void TrafficBucket::Add(const TrafficBucket& other) noexcept
  {
    for (const auto sum : SUMS)
    {
      this->*sum += other.*sum;
    }

    for (const auto flag : FLAGS)
    {
      this->*flag = this->*flag || other.*flag;
    }

    for (std::size_t i = 0; i < OUTCOME_COUNT; i++)
    {
      outcomes[i] += other.outcomes[i];
    }

    for (std::size_t i = 0; i < PHASE_COUNT; i++)
    {
      seconds_[i] += other.seconds_[i];
      counts_[i] += other.counts_[i];
    }
  }


  double TrafficBucket::GetMean(Phase phase) const
  {
    const double count = counts_[static_cast<std::size_t>(phase)];
    return count > 0 ? GetSeconds(phase) / count : 0;
  }


  double TrafficBucket::GetTotalSeconds() const
  {
    double total = 0;

    for (const Phase phase : GetAllPhases())
    {
      total += IsPartOfDuration(phase) ? GetSeconds(phase) : 0;
    }

    return total;
  }


  double TrafficBucket::GetShare(Phase phase) const
  {
    const double total = GetTotalSeconds();
    return total > 0 ? GetSeconds(phase) / total : 0;
  }


  double TrafficBucket::GetServiceTime(Phase phase) const
  {
    const double mean = GetMean(phase);
    return activeSeconds > 0 && instances > 0 ? std::min(mean, activeSeconds / instances) : mean;
  }
}
