// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/History.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t SECONDS_KEPT = 3600;
    constexpr std::size_t MINUTES_KEPT = 1440;
  }


  History::History(WallNow now) :
    now_(std::move(now)),
    series_{{{std::chrono::seconds(1), SECONDS_KEPT, GetTime()},
             {std::chrono::minutes(1), MINUTES_KEPT, GetTime()}}}
  {
  }


  void History::OnInstanceFinished(const FinishedInstance& instance) noexcept
  {
    const std::lock_guard lock(mutex_);
    const UnixSeconds now = GetTime();
    const auto direction = static_cast<std::size_t>(instance.direction);
    areStallsObserved_[direction] = areStallsObserved_[direction] || instance.areStallsObserved;

    for (HistorySeries& series : series_)
    {
      Advance(series, now).directions[direction].Add(instance);
    }
  }


  void History::SetOpenAssociations(std::size_t count) noexcept
  {
    const std::lock_guard lock(mutex_);
    const UnixSeconds now = GetTime();
    openAssociations_ = static_cast<std::uint32_t>(count);

    for (HistorySeries& series : series_)
    {
      Advance(series, now);
    }
  }


  void History::SetBudget(const AdmissionFigures& figures) noexcept
  {
    const std::lock_guard lock(mutex_);
    const UnixSeconds now = GetTime();
    const Duration waited = figures.waited - budget_.waited;
    budget_ = figures;

    for (HistorySeries& series : series_)
    {
      Advance(series, now).budgetWaited += ToSeconds(waited);
    }
  }


  HistoryExcerpt History::Read(HistoryResolution resolution, UnixSeconds since)
  {
    const std::lock_guard lock(mutex_);
    const UnixSeconds now = GetTime();
    HistorySeries& series = series_.at(static_cast<std::size_t>(resolution));
    Advance(series, now);

    HistoryExcerpt excerpt;
    excerpt.resolution = series.GetResolution();
    excerpt.begin = series.GetBegin(since);
    excerpt.areStallsObserved = areStallsObserved_;
    excerpt.points = series.GetOver(excerpt.begin, now);
    return excerpt;
  }


  HistoryPoint& History::Advance(HistorySeries& series, UnixSeconds now) noexcept
  {
    HistoryPoint& point = series.At(now);
    point.associations = std::max(point.associations, openAssociations_);
    point.budgetHeld = std::max(point.budgetHeld, budget_.held);
    point.budgetWaiting =
        std::max(point.budgetWaiting, static_cast<std::uint32_t>(budget_.waiting));
    return point;
  }


  UnixSeconds History::GetTime() const
  {
    using std::chrono::seconds;
    return std::chrono::duration_cast<seconds>(now_().time_since_epoch()).count();
  }
}
