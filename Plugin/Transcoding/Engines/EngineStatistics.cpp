// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/EngineStatistics.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // How much one more measurement counts: the last ten or so make up the mean
    constexpr double NEW_SHARE = 0.1;

    // A rival must be so much faster to become the favourite, so that two of the same speed don't
    // take turns
    constexpr double RIVAL_SHARE = 0.95;
  }


  EngineStatistics::Entry& EngineStatistics::Get(const std::string& engine)
  {
    for (Entry& entry : entries_)
    {
      if (entry.figures.engine == engine)
      {
        return entry;
      }
    }

    entries_.emplace_back();
    entries_.back().figures.engine = engine;
    return entries_.back();
  }


  // Those in use, behind the dropped one whose time has come. Of several, it is the one that waited
  // longest: only the first in the order surely gets its try.
  std::vector<EngineStatistics::Entry*>
  EngineStatistics::ListUsable(const std::vector<std::string>& available, TimePoint now)
  {
    std::vector<Entry*> usable;
    Entry* due = nullptr;

    for (const std::string& engine : available)
    {
      Entry& entry = Get(engine);

      if (!entry.figures.isDropped)
      {
        usable.push_back(&entry);
      }
      else if ((instances_ >= entry.retryAt || now >= entry.retryTime) &&
               (due == nullptr || entry.lastTry < due->lastTry))
      {
        due = &entry;
      }
    }

    if (due != nullptr)
    {
      Drop(*due, now);  // if the try goes wrong, the wait has begun anew
      usable.insert(usable.begin(), due);
    }

    return usable;
  }


  const EngineStatistics::Entry*
  EngineStatistics::FindExploration(const std::vector<Entry*>& usable,
                                    std::size_t sourceSize) const noexcept
  {
    // Each has its own part, so that a close one does not use up what a slow one needs
    const double budget = EXPLORATION_SHARE * spent_ /
                          static_cast<double>(std::max<std::size_t>(usable.size(), 2) - 1);
    const Entry* next = nullptr;

    for (const Entry* const entry : usable)
    {
      const double cost = entry->figures.secondsPerByte * static_cast<double>(sourceSize);

      if (entry->figures.engine != favourite_ && entry->explored + cost <= budget &&
          (next == nullptr || entry->lastTry < next->lastTry))
      {
        next = entry;
      }
    }

    return next;
  }


  void EngineStatistics::ChooseFavourite(const std::vector<Entry*>& usable)
  {
    const auto current =
        std::find_if(usable.begin(), usable.end(),
                     [this](const Entry* entry) { return entry->figures.engine == favourite_; });
    const double fastest = usable.front()->figures.secondsPerByte;

    if (current == usable.end() || (*current)->figures.secondsPerByte <= 0 ||
        fastest < RIVAL_SHARE * (*current)->figures.secondsPerByte)
    {
      favourite_ = usable.front()->figures.engine;
    }
  }


  void EngineStatistics::PutInOrder(std::vector<Entry*>& usable, std::size_t sourceSize,
                                    TimePoint now)
  {
    // Those that have not been measured yet come last here
    const auto isFaster = [](const Entry* a, const Entry* b)
    {
      const double first = a->figures.secondsPerByte;
      const double second = b->figures.secondsPerByte;
      return first > 0 && (second <= 0 || first < second);
    };

    const auto unmeasured =
        std::find_if(usable.begin(), usable.end(),
                     [](const Entry* entry)
                     { return entry->figures.isDropped || entry->chosen < MEASURED_TRIES; });
    const Entry* first = unmeasured == usable.end() ? nullptr : *unmeasured;
    std::stable_sort(usable.begin(), usable.end(), isFaster);

    ChooseFavourite(usable);

    if (first == nullptr)
    {
      first = FindExploration(usable, sourceSize);
    }

    if (first == nullptr)
    {
      first = &Get(favourite_);
    }

    std::stable_partition(usable.begin(), usable.end(),
                          [first](const Entry* entry) { return entry == first; });
    usable.front()->chosen++;
    usable.front()->lastTry = now;
  }


  void EngineStatistics::AppendOthers(std::vector<Entry*>& order,
                                      const std::vector<std::string>& available)
  {
    std::vector<Entry*> others;

    for (const std::string& engine : available)
    {
      Entry* const entry = &Get(engine);

      if (std::find(order.begin(), order.end(), entry) == order.end())
      {
        others.push_back(entry);
      }
    }

    // Who has just let an instance down comes last: it may have taken all its time
    std::stable_sort(others.begin(), others.end(),
                     [](const Entry* a, const Entry* b) { return a->retryTime < b->retryTime; });
    order.insert(order.end(), others.begin(), others.end());
  }


  std::vector<std::string> EngineStatistics::Choose(const std::vector<std::string>& available,
                                                    std::size_t sourceSize, TimePoint now)
  {
    instances_++;
    std::vector<Entry*> order = ListUsable(available, now);

    if (!order.empty())
    {
      PutInOrder(order, sourceSize, now);
    }

    AppendOthers(order, available);  // another image of this kind may be of another mind
    std::vector<std::string> names;
    names.reserve(order.size());

    for (const Entry* const entry : order)
    {
      names.push_back(entry->figures.engine);
    }

    return names;
  }


  // Whether a dropped one has done what those in use could not: one image says nothing of the next,
  // which may be what it was dropped for
  bool EngineStatistics::IsByStandIn(const std::vector<TranscodingReport>& attempts)
  {
    return attempts.size() > 1 && attempts.back().IsDone() &&
           Get(attempts.back().engine).figures.isDropped &&
           std::any_of(entries_.begin(), entries_.end(),
                       [](const Entry& entry) { return !entry.figures.isDropped; });
  }


  // Who took most of an instance's time, if that was over before others were tried. The only engine
  // there is has nobody to leave it to.
  const TranscodingReport*
  EngineStatistics::FindTimeTaker(const std::vector<TranscodingReport>& attempts) const noexcept
  {
    if (attempts.empty() || !attempts.back().isOutOfTime || entries_.size() < 2)
    {
      return nullptr;
    }

    return &*std::max_element(attempts.begin(), attempts.end(),
                              [](const TranscodingReport& a, const TranscodingReport& b) {
                                return a.duration + a.verification < b.duration + b.verification;
                              });
  }


  void EngineStatistics::Learn(const std::vector<TranscodingReport>& attempts, TimePoint now)
  {
    const bool isByStandIn = IsByStandIn(attempts);
    const bool hasSucceeded = !attempts.empty() && attempts.back().IsDone();
    const TranscodingReport* const timeTaker = FindTimeTaker(attempts);

    if (!attempts.empty() && attempts.front().engine != favourite_)
    {
      Get(attempts.front().engine).explored += ToSeconds(attempts.front().duration);
    }

    for (const TranscodingReport& attempt : attempts)
    {
      spent_ += ToSeconds(attempt.duration);

      // Where all have failed, the instance is to blame
      Count(attempt, (hasSucceeded && !isByStandIn) || &attempt == timeTaker, now);
    }

    if (isByStandIn)
    {
      Get(attempts.back().engine).figures.isDropped = true;  // until its time comes, as before
    }
  }


  void EngineStatistics::Observe(const TranscodingReport& attempt, TimePoint now)
  {
    Entry& entry = Get(attempt.engine);
    entry.chosen++;
    entry.lastTry = now;
    Count(attempt, false, now);
  }


  void EngineStatistics::Count(const TranscodingReport& attempt, bool mayDropFailed, TimePoint now)
  {
    Entry& entry = Get(attempt.engine);
    entry.figures.tries++;
    entry.figures.problem = attempt.reason;

    if (attempt.IsDone())
    {
      Measure(entry, attempt);
    }
    else if (attempt.outcome == TranscodingOutcome::Declined)
    {
      entry.figures.declines++;
      entry.declinesInRow++;

      if (entry.declinesInRow >= MAXIMUM_DECLINES)
      {
        Drop(entry, now);
      }
    }
    else
    {
      entry.figures.failures++;

      if (mayDropFailed)
      {
        Drop(entry, now);
      }
    }
  }


  void EngineStatistics::Measure(Entry& entry, const TranscodingReport& attempt)
  {
    double& mean = entry.figures.secondsPerByte;
    const double measured = ToSeconds(attempt.duration) /
                            static_cast<double>(std::max<std::size_t>(attempt.sourceSize, 1));
    const std::uint64_t successes =
        entry.figures.tries - entry.figures.failures - entry.figures.declines;

    if (mean <= 0)
    {
      mean = measured;
    }
    else if (successes <= MEASURED_TRIES)
    {
      mean = std::min(mean, measured);  // the first try may have had to start a process
    }
    else
    {
      mean += NEW_SHARE * (measured - mean);
    }

    entry.declinesInRow = 0;
    entry.figures.isDropped = false;
  }


  void EngineStatistics::Drop(Entry& entry, TimePoint now)
  {
    entry.figures.isDropped = true;
    entry.retryAt = instances_ + RETRY_INSTANCES;
    entry.retryTime = now + RETRY_TIME;
  }


  std::vector<EngineFigures> EngineStatistics::GetFigures() const
  {
    std::vector<EngineFigures> figures;

    for (const Entry& entry : entries_)
    {
      figures.push_back(entry.figures);
    }

    return figures;
  }


  const std::string& EngineStatistics::GetFavourite() const noexcept
  {
    return favourite_;
  }


  std::string EngineStatistics::Explain() const
  {
    const auto measured =
        std::count_if(entries_.begin(), entries_.end(),
                      [](const Entry& entry) { return entry.figures.secondsPerByte > 0; });
    const auto dropped = std::count_if(entries_.begin(), entries_.end(),
                                       [](const Entry& entry) { return entry.figures.isDropped; });
    const auto total = static_cast<std::ptrdiff_t>(entries_.size());

    if (dropped == total)
    {
      return "no engine is left: all were dropped";
    }

    if (total - dropped == 1)
    {
      return total == 1 ? "the only one that writes this"
                        : "the only one left: others were dropped";
    }

    return measured + dropped < total ? "not all engines were measured yet"
                                      : "the fastest of " + std::to_string(measured) + " measured";
  }
}
