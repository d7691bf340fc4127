// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/SlotRing.h"
#include "Metrics/TrafficBucket.h"

namespace OrthancPerf
{
  // Instances, and bytes, a second
  struct TrafficRates
  {
    double instances = 0;
    double bytes = 0;

    // If this is what came in so much time
    static TrafficRates Make(const TrafficBucket& traffic, Duration time);
  };


  // The latest traffic of one peer, or of the server, in one direction, in slots of five seconds.
  // Rates and evidence are sums over the latest of them.
  //
  //   LatestTraffic latest(now);
  //   latest.Add(instance, now);
  //   const TrafficBucket evidence = latest.GetEvidence(now);
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

    // Forgets all, and begins anew
    void Restart(TimePoint now) noexcept;

    // Of the last minute, or since the start
    TrafficRates GetRates(TimePoint now) const;

    TrafficBucket GetEvidence(TimePoint now) const;

  private:
    SlotRing<TrafficBucket> slots_;
    TimePoint latest_;  // when the latest instance came
  };
}
