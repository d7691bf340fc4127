// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/BucketHistogram.h"
#include "Metrics/TrafficBucket.h"

#include <array>

namespace OrthancPerf
{
  // The traffic of one direction or origin, with the distributions of its times. A histogram
  // without durations: the phase was not observed. A value of 5 kB.
  struct TrafficSummary : TrafficBucket
  {
    PhaseHistogram duration;  // of the whole instance: PhaseDurations::GetTotal()
    std::array<PhaseHistogram, PHASE_COUNT> latencies;

    void Add(const FinishedInstance& instance) noexcept;
    void Add(const TrafficSummary& other) noexcept;
  };


  // What the requests of one class read. A value of 1.4 kB.
  struct ReadSummary
  {
    std::uint64_t bytes = 0;
    std::array<std::uint64_t, READ_STATUSES.size()> statuses = {};
    Duration clientWait = Duration::zero();
    std::array<PhaseHistogram, REQUEST_PHASES.size()> phases;

    void Add(const FinishedRequest& request) noexcept;
    void Add(const ReadSummary& other) noexcept;

    std::uint64_t CountRequests() const noexcept;
    std::uint64_t CountFailed() const noexcept;  // FinishedRequest::HasFailed
  };
}
