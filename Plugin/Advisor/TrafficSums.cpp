// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/TrafficSums.h"

#include "Admission/AdmissionQueue.h"

#include <algorithm>
#include <cmath>

namespace OrthancPerf
{
  namespace
  {
    // All but activeSeconds, which Decay() counts by itself
    constexpr double TrafficSums::*SUMS[] = {
        &TrafficSums::instances,      &TrafficSums::bytes,
        &TrafficSums::largeInstances, &TrafficSums::largeBytes,
        &TrafficSums::stalls,         &TrafficSums::stallSeconds,
        &TrafficSums::lossStalls,     &TrafficSums::lossStallSeconds,
        &TrafficSums::ownFailures,    &TrafficSums::roundTrips,
        &TrafficSums::latencySeconds, &TrafficSums::queuedSeconds};
  }


  double TrafficSums::CountSeconds(const FinishedInstance& instance) noexcept
  {
    const Duration pause = instance.phases.Get(Phase::Idle).value_or(Duration::zero());
    return ToSeconds(instance.phases.GetTotal() +
                     (pause <= MAXIMUM_PAUSE ? pause : Duration::zero()));
  }


  void TrafficSums::Add(const FinishedInstance& instance, TimePoint now) noexcept
  {
    Expire(now);
    Decay(now, ToSeconds(instance.phases.GetTotal()));

    instances += 1;
    bytes += static_cast<double>(instance.size);

    if (instance.size > AdmissionQueue::PIECE)
    {
      largeInstances += 1;
      largeBytes += static_cast<double>(instance.size);
    }

    stalls += instance.stalls;
    stallSeconds += ToSeconds(instance.stallTime);
    lossStalls += instance.lossStalls.count;
    lossStallSeconds += ToSeconds(instance.lossStalls.time);
    ownFailures += instance.isOwnFailure ? 1 : 0;

    if (instance.database)
    {
      AddDatabase(*instance.database);
    }

    for (const Phase phase : GetAllPhases())
    {
      const std::optional<Duration> duration = instance.phases.Get(phase);

      if (duration && (phase != Phase::Idle || *duration <= MAXIMUM_PAUSE))
      {
        AddPhase(phase, *duration);
      }
    }
  }


  void TrafficSums::Expire(TimePoint now) noexcept
  {
    if (now - latest_ > MAXIMUM_AGE)
    {
      *this = TrafficSums();
    }
  }


  double TrafficSums::GetMean(Phase phase) const
  {
    const double count = counts_[static_cast<std::size_t>(phase)];
    return count > 0 ? GetSeconds(phase) / count : 0;
  }


  double TrafficSums::GetTotalSeconds() const
  {
    double total = 0;

    for (const Phase phase : GetAllPhases())
    {
      total += IsPartOfDuration(phase) ? GetSeconds(phase) : 0;
    }

    return total;
  }


  double TrafficSums::GetShare(Phase phase) const
  {
    const double total = GetTotalSeconds();
    return total > 0 ? GetSeconds(phase) / total : 0;
  }


  double TrafficSums::GetServiceTime(Phase phase) const
  {
    const double mean = GetMean(phase);
    return activeSeconds > 0 && instances > 0 ? std::min(mean, activeSeconds / instances) : mean;
  }


  void TrafficSums::Decay(TimePoint now, double taken) noexcept
  {
    const bool isFirst = latest_ == TimePoint();
    const double gap = isFirst ? 0 : std::max(ToSeconds(now - latest_), 0.0);
    const double active = std::min(gap, std::max(ToSeconds(MAXIMUM_PAUSE), taken));
    const double byCount = 1 / HALF_COUNT;
    const double halvings =
        activeSeconds > LONGEST_SPAN ? byCount : std::min(active / ToSeconds(HALF_LIFE), byCount);
    const double factor = std::exp2(-halvings);
    latest_ = std::max(latest_, now);

    for (const auto sum : SUMS)
    {
      this->*sum *= factor;
    }

    for (std::size_t i = 0; i < PHASE_COUNT; i++)
    {
      seconds_[i] *= factor;
      counts_[i] *= factor;
    }

    activeSeconds = activeSeconds * factor + active;
  }


  void TrafficSums::AddPhase(Phase phase, Duration duration) noexcept
  {
    seconds_[static_cast<std::size_t>(phase)] += ToSeconds(duration);
    counts_[static_cast<std::size_t>(phase)] += 1;
  }


  void TrafficSums::AddDatabase(const DatabaseRecord& database) noexcept
  {
    roundTrips += database.roundTrips;
    latencySeconds += database.roundTrips * ToSeconds(database.shortest);
    queuedSeconds += ToSeconds(database.queued.value_or(Duration::zero()));
  }
}
