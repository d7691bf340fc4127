// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"
#include "Ingest/Enumeration.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace OrthancPerf
{
  // Where the time of an instance goes, in the order in which it goes there:
  //
  //   idle       previous response written -> first byte of the next request; the sender's own
  //              pause, not part of the instance's duration
  //   receive    first byte of the request -> last byte of the data set; for REST without the
  //              probe: request filter -> received-instance callback
  //   parse      last byte of the data set -> received-instance callback
  //   transcode  the transcoder at work, whichever engine
  //   prepare    the rest until the storage begins: tags, hashing, MD5, Lua, other plugins;
  //              without the probe, until the incoming-instance filter
  //   storage    the first file created -> the last one closed; where the storage area is a server,
  //              the first question to it -> its last answer
  //   sync       the time in fsync, inside "storage": not a further share of the duration
  //   remote     the time in waiting for the storage's server, inside "storage", likewise
  //   index      then -> stored callback: the database
  //   database   the time in waiting for the database's server, inside "index" (or "commit"): not a
  //              further share of the duration
  //   commit     storage and index together, where they cannot be told apart
  //   respond    stored callback -> response handed to the kernel
  //
  // and of an instance that Orthanc sends:
  //
  //   connect    connect(2) called -> connected; the first instance of an association only
  //   associate  A-ASSOCIATE-RQ -> its answer; the first instance of an association only
  //   send       first byte of the C-STORE request -> last byte has left the machine
  //   wait       then -> last byte of the response
  //
  // and of a request that reads, beside idle, receive, storage and send:
  //
  //   work       what is left until its response has left: decode, compress, the database
  //
  // A phase that was not observed is absent, never zero.
  enum class Phase
  {
    Idle,
    Receive,
    Parse,
    Transcode,
    Prepare,
    Storage,
    Sync,
    Remote,
    Index,
    Database,
    Commit,
    Respond,
    Connect,
    Associate,
    Send,
    Wait,
    Work
  };

  template <>
  inline constexpr std::array LABELS<Phase> = {
      "idle",    "receive",   "parse", "transcode", "prepare", "storage",
      "sync",    "remote",    "index", "database",  "commit",  "respond",
      "connect", "associate", "send",  "wait",      "work"};
  constexpr std::size_t PHASE_COUNT = LABELS<Phase>.size();
  constexpr auto GetAllPhases = ListAll<Phase>;

  // Whether the phase counts towards the duration of an instance ("idle" does not, nor does what is
  // inside another phase: "sync", "remote", "database")
  constexpr bool IsPartOfDuration(Phase phase)
  {
    return phase != Phase::Idle && phase != Phase::Sync && phase != Phase::Remote &&
           phase != Phase::Database;
  }

  // The time of one instance, by phase. A value; not thread-safe.
  class PhaseDurations
  {
  public:
    // Adds to the phase, which is observed from then on, even for a duration of zero
    void Add(Phase phase, Duration duration)
    {
      std::optional<Duration>& total = durations_[static_cast<std::size_t>(phase)];
      total = total.value_or(Duration::zero()) + duration;
    }

    // Nothing if the phase was not observed
    std::optional<Duration> Get(Phase phase) const
    {
      return durations_[static_cast<std::size_t>(phase)];
    }

    // The sum of all phases that are part of the duration
    Duration GetTotal() const
    {
      Duration total = Duration::zero();

      for (const Phase phase : GetAllPhases())
      {
        total += IsPartOfDuration(phase) ? Get(phase).value_or(Duration::zero()) : Duration::zero();
      }

      return total;
    }

  private:
    std::array<std::optional<Duration>, PHASE_COUNT> durations_;
  };

  // The way of one instance through its phases: a row of marks without a gap. Each says to which
  // phase the time since the mark before it belonged. So the phases always sum to the
  // time from begin to the last mark. A value owned by the ingesting thread; not thread-safe.
  class Timeline
  {
  public:
    explicit Timeline(TimePoint begin) : lastMark_(begin)
    {
    }

    // The time since the previous mark belonged to "phase". A time before the previous mark
    // counts as that mark: phases are never negative.
    void Mark(Phase phase, TimePoint now)
    {
      const TimePoint mark = std::max(now, lastMark_);
      phases_.Add(phase, mark - lastMark_);
      lastMark_ = mark;
    }

    // Time inside a phase, reported beside it (Phase::Sync, Phase::Remote, Phase::Database), or
    // before the begin (Phase::Idle)
    void AddBeside(Phase phase, Duration duration)
    {
      phases_.Add(phase, duration);
    }

    TimePoint GetLastMark() const
    {
      return lastMark_;
    }

    const PhaseDurations& GetPhases() const
    {
      return phases_;
    }

  private:
    TimePoint lastMark_;
    PhaseDurations phases_;
  };
}
