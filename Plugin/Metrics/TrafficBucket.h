// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/FinishedInstance.h"
#include "Ingest/FinishedRequest.h"
#include "Metrics/BucketHistogram.h"
#include "Metrics/SlotRing.h"

#include <array>
#include <cstdint>

namespace OrthancPerf
{
  // What Orthanc serves to those who read: a place behind those of both directions
  constexpr std::size_t SERVE = DIRECTION_COUNT;
  constexpr std::size_t TRAFFIC_COUNT = DIRECTION_COUNT + 1;

  // A request that read, as buckets count it. Its waits for the database are part of Phase::Work.
  FinishedInstance ToTraffic(const FinishedRequest& request);

  // What many instances in one direction add up to: the one bucket of all that counts instances.
  // Windows, rates, charts, counters and the advisor's evidence are sums of buckets.
  //
  // Sums are doubles, as who reads them divides them; whole numbers are exact up to 2^53. Times are
  // seconds of all instances together. A value of 350 bytes; not thread-safe.
  class TrafficBucket
  {
  public:
    // A longer gap between two instances, or pause of a sender, is silence: a scanner that acquires
    // images one by one, not a transfer that is slow
    static constexpr std::chrono::seconds MAXIMUM_PAUSE{1};

    void Add(const FinishedInstance& instance) noexcept;
    void operator+=(const TrafficBucket& other) noexcept;

    double instances = 0;
    double bytes = 0;
    double largeInstances = 0;  // those that AdmissionQueue would count
    double largeBytes = 0;
    std::array<double, OUTCOME_COUNT> outcomes = {};
    double ownFailures = 0;  // FinishedInstance::isOwnFailure
    double stalls = 0;
    double stallSeconds = 0;
    double stallIdleSeconds = 0;    // of these, in Phase::Idle
    double remoteRoundTrips = 0;    // to the storage's server
    double databaseRoundTrips = 0;  // to the database's server
    double latencySeconds = 0;      // of these, if each had been as short as an instance's shortest
    double queuedSeconds = 0;       // see ServerRecord
    double pauseSeconds = 0;        // of Phase::Idle, silence left out
    double activeSeconds = 0;  // of the clock on the wall, likewise; LatestTraffic alone counts it

    // Whether any instance had been looked at for it: without the probe, no stalls does not mean
    // none
    bool areStallsObserved = false;
    bool isRemoteObserved = false;
    bool isDatabaseObserved = false;

    double GetOutcome(Outcome outcome) const
    {
      return outcomes[static_cast<std::size_t>(outcome)];
    }

    bool IsObserved(Phase phase) const
    {
      return counts_[static_cast<std::size_t>(phase)] > 0;
    }

    std::optional<double> FindSeconds(Phase phase) const
    {
      return IsObserved(phase) ? std::make_optional(GetSeconds(phase)) : std::nullopt;
    }

    double GetSeconds(Phase phase) const
    {
      return seconds_[static_cast<std::size_t>(phase)];
    }

    // Of those instances in which the phase was observed; 0: in none
    double GetMean(Phase phase) const;

    // The time of the instances themselves (IsPartOfDuration)
    double GetTotalSeconds() const;

    double GetSecondsWithPauses() const
    {
      return GetTotalSeconds() + pauseSeconds;
    }

    // The part of the instances' own time, 0 to 1
    double GetShare(Phase phase) const;

    // The seconds of work for one instance in this phase, if one worker does it all: the mean. Less
    // where instances wait for each other in the phase: then the worker is always busy, and the
    // time between two instances is its work for one.
    double GetServiceTime(Phase phase) const;

  private:
    std::array<double, PHASE_COUNT> seconds_ = {};
    std::array<std::uint32_t, PHASE_COUNT> counts_ = {};
  };

  // The traffic of one direction or origin, with the distributions of its times. A histogram
  // without durations: the phase was not observed. A value of 5 kB.
  struct TrafficSummary : TrafficBucket
  {
    PhaseHistogram duration;  // of the whole instance: PhaseDurations::GetTotal()
    std::array<PhaseHistogram, PHASE_COUNT> latencies;

    void Add(const FinishedInstance& instance) noexcept;
    void operator+=(const TrafficSummary& other) noexcept;
  };

  // What the requests of one class read. A value of 1.4 kB.
  struct ReadSummary
  {
    std::uint64_t bytes = 0;
    std::array<std::uint64_t, READ_STATUSES.size()> statuses = {};
    Duration clientWait = Duration::zero();
    std::array<PhaseHistogram, REQUEST_PHASES.size()> phases;

    void Add(const FinishedRequest& request) noexcept;
    void operator+=(const ReadSummary& other) noexcept;

    std::uint64_t CountRequests() const noexcept;
    std::uint64_t CountFailed() const noexcept;  // FinishedRequest::HasFailed
    double GetSeconds() const noexcept;          // FinishedRequest::GetDuration, of all
  };

  // Instances, and bytes, a second
  struct TrafficRates
  {
    double instances = 0;
    double bytes = 0;

    static TrafficRates Make(const TrafficBucket& traffic, Duration time);
  };

  // The latest traffic of one peer, or of the server, in one direction, in slots of five seconds.
  // Rates and evidence are sums over the latest of them.
  //
  // 14 kB, taken at the begin. Not thread-safe: its owner locks.
  class LatestTraffic
  {
  public:
    // Evidence is the latest traffic of so many seconds (silence left out) and so many instances:
    // those of a far peer may take seconds each
    static constexpr double EVIDENCE_SECONDS = 45;
    static constexpr double EVIDENCE_INSTANCES = 40;

    // A silence does not count: what was seen before it stays the evidence for so long
    static constexpr std::chrono::minutes MAXIMUM_AGE{5};

    explicit LatestTraffic(TimePoint start);

    void Add(const FinishedInstance& instance, TimePoint now) noexcept;

    void Restart(TimePoint now) noexcept;

    // Of the last minute, or since the start
    TrafficRates GetRates(TimePoint now) const;

    TrafficBucket GetEvidence(TimePoint now) const;

  private:
    SlotRing<TrafficBucket> slots_;
    TimePoint latest_;  // when the latest instance came
  };
}
