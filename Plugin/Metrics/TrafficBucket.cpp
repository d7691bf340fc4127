// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/TrafficBucket.h"

#include "Admission/AdmissionQueue.h"

#include <algorithm>
#include <numeric>

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
        &TrafficBucket::activeSeconds,      &TrafficBucket::stallIdleSeconds};

    // Where each instance has a slot of its own, as many as are evidence
    constexpr auto SLOT_COUNT = static_cast<std::size_t>(LatestTraffic::EVIDENCE_INSTANCES);
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
    areStallsObserved |= instance.areStallsObserved;
    stalls += instance.stalls;
    stallSeconds += ToSeconds(instance.stallTime);
    stallIdleSeconds += ToSeconds(instance.stallTimeInIdle);

    if (instance.remote)
    {
      isRemoteObserved = true;
      remoteRoundTrips += instance.remote->roundTrips;
    }

    if (const std::optional<ServerRecord>& database = instance.database)
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

  void TrafficBucket::operator+=(const TrafficBucket& other) noexcept
  {
    for (const auto sum : SUMS)
    {
      this->*sum += other.*sum;
    }

    areStallsObserved |= other.areStallsObserved;
    isRemoteObserved |= other.isRemoteObserved;
    isDatabaseObserved |= other.isDatabaseObserved;

    AddEach(outcomes, other.outcomes);
    AddEach(seconds_, other.seconds_);
    AddEach(counts_, other.counts_);
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

  void TrafficSummary::operator+=(const TrafficSummary& other) noexcept
  {
    TrafficBucket::operator+=(other);
    duration += other.duration;
    AddEach(latencies, other.latencies);
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

  void ReadSummary::operator+=(const ReadSummary& other) noexcept
  {
    bytes += other.bytes;
    clientWait += other.clientWait;
    AddEach(statuses, other.statuses);
    AddEach(phases, other.phases);
  }

  std::uint64_t ReadSummary::CountRequests() const noexcept
  {
    return std::accumulate(statuses.begin(), statuses.end(), std::uint64_t{0});
  }

  double ReadSummary::GetSeconds() const noexcept
  {
    return std::accumulate(phases.begin() + 1, phases.end(), 0.0,
                           [](double sum, const PhaseHistogram& phase) { return sum + phase.sum; });
  }

  std::uint64_t ReadSummary::CountFailed() const noexcept
  {
    constexpr std::size_t SERVER_ERROR = 5;  // "5xx"
    return statuses[SERVER_ERROR] + statuses.back();
  }

  TrafficRates TrafficRates::Make(const TrafficBucket& traffic, Duration time)
  {
    return {traffic.instances / ToSeconds(time), traffic.bytes / ToSeconds(time)};
  }

  LatestTraffic::LatestTraffic(TimePoint start) : slots_(SLOT_LENGTH, SLOT_COUNT, start)
  {
  }

  // While an instance is at work there is no silence, however long it takes
  void LatestTraffic::Add(const FinishedInstance& instance, TimePoint now) noexcept
  {
    const bool isFirst = latest_ == TimePoint();
    const Duration longest =
        std::max<Duration>(TrafficBucket::MAXIMUM_PAUSE, instance.phases.GetTotal());
    TrafficBucket& slot = slots_.At(now);
    slot.Add(instance);
    slot.activeSeconds +=
        isFirst ? 0 : ToSeconds(std::clamp(now - latest_, Duration::zero(), longest));
    latest_ = std::max(latest_, now);
  }

  void LatestTraffic::Restart(TimePoint now) noexcept
  {
    slots_.Clear(now);
    latest_ = TimePoint();
  }

  TrafficRates LatestTraffic::GetRates(TimePoint now) const
  {
    TrafficBucket sum;
    slots_.ForEach(slots_.GetBegin(now, SLOTS_OF_A_MINUTE),
                   [&sum](const TrafficBucket& slot, TimePoint) { sum += slot; });
    return TrafficRates::Make(sum, slots_.GetCovered(now, SLOTS_OF_A_MINUTE));
  }

  TrafficBucket LatestTraffic::GetEvidence(TimePoint now) const
  {
    TrafficBucket sum;

    if (now - latest_ <= MAXIMUM_AGE)
    {
      slots_.ForEachWhile(
          [&sum](const TrafficBucket& slot, TimePoint)
          {
            const bool isWanted =
                sum.activeSeconds < EVIDENCE_SECONDS || sum.instances < EVIDENCE_INSTANCES;

            if (isWanted)
            {
              sum += slot;
            }

            return isWanted;
          });
    }

    return sum;
  }
}
