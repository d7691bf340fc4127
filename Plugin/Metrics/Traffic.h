// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/FinishedInstance.h"

#include <array>
#include <cstdint>

namespace OrthancPerf
{
  // What many instances in one direction add up to, and how many they are a second: the one bucket
  // of all that counts instances. A value; not thread-safe.
  struct Traffic
  {
    std::uint64_t instances = 0;
    std::uint64_t bytes = 0;
    std::array<std::uint64_t, OUTCOME_COUNT> outcomes = {};
    bool areStallsObserved = false;  // of any; without the probe, no stalls does not mean none
    std::uint64_t stalls = 0;
    Duration stallTime = Duration::zero();
    bool isRemoteObserved = false;  // what any of them asked of the storage's server
    std::uint64_t remoteRoundTrips = 0;
    bool isDatabaseObserved = false;  // what any of them asked of the database's server
    std::uint64_t databaseRoundTrips = 0;
    Duration databaseQueued = Duration::zero();  // see DatabaseRecord
    PhaseDurations phases;  // of all instances together; their shares show where time goes
    double instancesPerSecond = 0;
    double bytesPerSecond = 0;

    void Add(const FinishedInstance& instance) noexcept;

    void Add(const Traffic& other) noexcept;

    // The rates, which Add() leaves alone, if this is what came in so much time
    void SetRates(Duration time) noexcept;
  };
}
