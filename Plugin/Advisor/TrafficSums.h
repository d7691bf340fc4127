// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/FinishedInstance.h"

#include <array>

namespace OrthancPerf
{
  // Sums over the latest instances, in which the past counts for less and less: half as much after
  // half a minute of traffic, or, where instances are slow, after thirty of them. A silence does
  // not count: what was seen before it stays the evidence until there is newer one, or until it is
  // too old to say anything. A value; not thread-safe.
  class TrafficSums
  {
  public:
    // Of traffic, not of silence
    static constexpr std::chrono::seconds HALF_LIFE{30};

    // Instances. Those of a far peer may take seconds each: by time alone, there would never be as
    // many in the sums as evidence needs (MINIMUM_INSTANCES of Rule.h).
    static constexpr double HALF_COUNT = 30;

    // Seconds of the clock, silence left out, that fading by time leaves at most: where there are
    // more, of slow instances, those that are quick again fade them by their number, too
    static constexpr double LONGEST_SPAN = 45;

    // What is older than this is forgotten
    static constexpr std::chrono::minutes MAXIMUM_AGE{5};

    // A longer gap between two instances, or pause of a sender, is silence: a scanner that acquires
    // images one by one, not a transfer that is slow. But where an instance itself takes longer,
    // there was none while it did.
    static constexpr std::chrono::seconds MAXIMUM_PAUSE{1};

    // An instance's own time, and the pause before it unless that is silence
    static double CountSeconds(const FinishedInstance& instance) noexcept;

    void Add(const FinishedInstance& instance, TimePoint now) noexcept;

    // Forgets all if the latest instance is too old
    void Expire(TimePoint now) noexcept;

    double instances = 0;
    double bytes = 0;
    double largeInstances = 0;  // those that AdmissionQueue would count
    double largeBytes = 0;
    double stalls = 0;
    double stallSeconds = 0;
    double lossStalls = 0;  // of the stalls, see FinishedInstance
    double lossStallSeconds = 0;
    double activeSeconds = 0;   // of the clock on the wall, silence left out
    double ownFailures = 0;     // FinishedInstance::isOwnFailure
    double roundTrips = 0;      // to the database's server
    double latencySeconds = 0;  // of these, if each had been as short as an instance's shortest
    double queuedSeconds = 0;   // see DatabaseRecord

    // Seconds of all instances together
    double GetSeconds(Phase phase) const
    {
      return seconds_[static_cast<std::size_t>(phase)];
    }

    // Of those instances in which the phase was observed; 0: in none
    double GetMean(Phase phase) const;

    // The time of the instances themselves (IsPartOfDuration)
    double GetTotalSeconds() const;

    // With the senders' pauses between them
    double GetSecondsWithPauses() const
    {
      return GetTotalSeconds() + GetSeconds(Phase::Idle);
    }

    // The part of the instances' own time, 0 to 1
    double GetShare(Phase phase) const;

    // How long the one who works on this phase has for one instance: the mean, or less where
    // instances wait for each other in it, because then it is always at work and the time between
    // two instances is all that it takes
    double GetServiceTime(Phase phase) const;

  private:
    // "taken": the own time of the instance that is about to be added, in seconds
    void Decay(TimePoint now, double taken) noexcept;
    void AddPhase(Phase phase, Duration duration) noexcept;
    void AddDatabase(const DatabaseRecord& database) noexcept;

    TimePoint latest_;
    std::array<double, PHASE_COUNT> seconds_ = {};
    std::array<double, PHASE_COUNT> counts_ = {};
  };
}
