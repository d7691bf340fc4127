// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"
#include "Transcoding/TranscodingReport.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // What one engine has shown for one kind of image. A value.
  struct EngineFigures
  {
    std::string engine;
    std::uint64_t tries = 0;
    std::uint64_t failures = 0;
    std::uint64_t declines = 0;
    double secondsPerByte = 0;  // of the source, a mean in which the past decays; zero: unmeasured
    bool isDropped = false;     // until its time comes again
    std::string problem;        // of the last failure or decline; empty: its last try went well
  };


  // Chooses among engines for one kind of image by what they have shown, and learns from what
  // becomes of it:
  // - Each engine is measured MEASURED_TRIES times before it is judged.
  // - Then the fastest is chosen. The others are tried again as long as all such trials together
  //   take no more than EXPLORATION_SHARE of the time spent: a slow one rarely, a close one often.
  // - An engine that fails where another does not is dropped, one that declines several times in a
  //   row too, and one that takes all the time an instance has. It gets another chance after
  //   RETRY_INSTANCES or RETRY_TIME. Until then it is tried where all others have failed.
  //
  // Not thread-safe: AutoEngine locks it.
  class EngineStatistics
  {
  public:
    static constexpr std::uint64_t MEASURED_TRIES = 2;
    static constexpr double EXPLORATION_SHARE = 0.02;
    static constexpr std::uint64_t MAXIMUM_DECLINES = 3;
    static constexpr std::uint64_t RETRY_INSTANCES = 1000;
    static constexpr Duration RETRY_TIME = std::chrono::minutes(10);

    // The engines that can be had, in the order in which to try them: the first is the choice, the
    // others are for when it fails. The dropped ones come last: an instance that is stored as
    // received is worse than one that is tried in vain.
    std::vector<std::string> Choose(const std::vector<std::string>& available,
                                    std::size_t sourceSize, TimePoint now);

    // What became of one instance: all attempts, of which at most the last is done
    void Learn(const std::vector<TranscodingReport>& attempts, TimePoint now);

    // What an engine did that somebody else had chosen: a measurement like another, but no trial
    // of this choice's, so it neither uses up nor adds to what trials may cost
    void Observe(const TranscodingReport& attempt, TimePoint now);

    std::vector<EngineFigures> GetFigures() const;
    const std::string& GetFavourite() const noexcept;  // the engine that is chosen now
    std::string Explain() const;                       // why, in words

  private:
    struct Entry
    {
      EngineFigures figures;
      std::uint64_t chosen = 0;  // as the first, by whomever, tries under way included
      std::uint64_t declinesInRow = 0;
      std::uint64_t retryAt = 0;  // value of "instances_"
      TimePoint retryTime;
      double explored = 0;  // seconds
      TimePoint lastTry;
    };

    Entry& Get(const std::string& engine);
    std::vector<Entry*> ListUsable(const std::vector<std::string>& available, TimePoint now);
    const Entry* FindExploration(const std::vector<Entry*>& usable,
                                 std::size_t sourceSize) const noexcept;
    void ChooseFavourite(const std::vector<Entry*>& usable);  // the fastest is the first
    void PutInOrder(std::vector<Entry*>& usable, std::size_t sourceSize, TimePoint now);
    void AppendOthers(std::vector<Entry*>& order, const std::vector<std::string>& available);
    bool IsByStandIn(const std::vector<TranscodingReport>& attempts);
    const TranscodingReport*
    FindTimeTaker(const std::vector<TranscodingReport>& attempts) const noexcept;
    void Count(const TranscodingReport& attempt, bool mayDropFailed, TimePoint now);
    static void Measure(Entry& entry, const TranscodingReport& attempt);
    void Drop(Entry& entry, TimePoint now);

    std::list<Entry> entries_;  // in the order in which the engines were first seen
    std::string favourite_;
    std::uint64_t instances_ = 0;
    double spent_ = 0;  // seconds
  };
}
