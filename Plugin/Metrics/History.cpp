// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/History.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::int64_t SECONDS_KEPT = 3600;
    constexpr std::int64_t MINUTES_KEPT = 1440;

    // NTP moves a clock by less than this without anybody setting it (ntpd(8), "step threshold",
    // is 0.128 s); threads come with their times out of order by much less
    constexpr UnixSeconds CLOCK_TOLERANCE = 5;

    TimePoint ToTimePoint(UnixSeconds time)
    {
      return TimePoint(std::chrono::seconds(time));
    }
  }


  History::History(WallNow now) :
    now_(std::move(now)),
    series_{{{std::chrono::seconds(1), SECONDS_KEPT, GetTime()},
             {std::chrono::minutes(1), MINUTES_KEPT, GetTime()}}}
  {
  }


  void History::OnInstanceFinished(const FinishedInstance& instance) noexcept
  {
    Record(static_cast<std::size_t>(instance.direction), instance);
  }


  void History::OnAssociationFinished(const FinishedAssociation& association) noexcept
  {
    if (association.direction == Direction::Receive || !association.HasFailed())
    {
      return;
    }

    const std::lock_guard lock(mutex_);

    for (Series& series : series_)
    {
      GetPoint(series, GetTime()).failedCalls++;
    }
  }


  void History::OnRequestFinished(const FinishedRequest& request)
  {
    Record(SERVE, ToTraffic(request));
  }


  void History::Record(std::size_t place, const FinishedInstance& instance) noexcept
  {
    const std::lock_guard lock(mutex_);
    const UnixSeconds now = GetTime();
    areStallsObserved_[place] |= instance.areStallsObserved;

    for (Series& series : series_)
    {
      GetPoint(series, now).directions[place].Add(instance);
    }
  }


  void History::Observe(std::size_t associations, const AdmissionFigures& budget) noexcept
  {
    const std::lock_guard lock(mutex_);
    const UnixSeconds now = GetTime();
    const Duration waited = budget.waited - budget_.waited;
    openAssociations_ = static_cast<std::uint32_t>(associations);
    budget_ = budget;

    if (associations > 0 || budget.held > 0 || budget.waiting > 0 || waited > Duration::zero())
    {
      for (Series& series : series_)
      {
        GetPoint(series, now).budgetWaited += ToSeconds(waited);
      }
    }
  }


  HistoryExcerpt History::Read(HistoryResolution resolution, UnixSeconds since)
  {
    const std::lock_guard lock(mutex_);
    const UnixSeconds now = GetTime();
    HistoryExcerpt excerpt = series_.at(static_cast<std::size_t>(resolution)).Read(since, now);
    excerpt.areStallsObserved = areStallsObserved_;
    return excerpt;
  }


  HistoryPoint& History::GetPoint(Series& series, UnixSeconds now) noexcept
  {
    HistoryPoint& point = series.GetPoint(now);
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


  History::Series::Series(std::chrono::seconds resolution, std::int64_t capacity,
                          UnixSeconds start) :
    resolution_(resolution),
    capacity_(capacity),
    points_(resolution, static_cast<std::size_t>(capacity), TimePoint()),
    first_(start / resolution.count()),
    newest_(first_)
  {
  }


  void History::Series::Advance(UnixSeconds now) noexcept
  {
    const std::int64_t number = now / resolution_.count();

    if (now + CLOCK_TOLERANCE < newest_ * resolution_.count())
    {
      points_.Clear(TimePoint());
      first_ = number;
      newest_ = number;
    }

    newest_ = std::max(newest_, number);
  }


  HistoryPoint& History::Series::GetPoint(UnixSeconds now) noexcept
  {
    Advance(now);
    return points_.At(ToTimePoint(newest_ * resolution_.count()));
  }


  HistoryExcerpt History::Series::Read(UnixSeconds since, UnixSeconds now)
  {
    Advance(now);
    HistoryExcerpt excerpt;
    excerpt.resolution = resolution_;
    excerpt.begin = GetBegin(since);

    const std::int64_t first = excerpt.begin / resolution_.count();
    const std::int64_t end = std::min<std::int64_t>(now / resolution_.count(), newest_ + 1);
    excerpt.points.resize(static_cast<std::size_t>(std::max<std::int64_t>(end - first, 0)));

    points_.ForEach(ToTimePoint(excerpt.begin),
                    [&](const HistoryPoint& point, TimePoint begin)
                    {
                      const auto place = static_cast<std::size_t>(
                          (begin - ToTimePoint(excerpt.begin)) / resolution_);

                      if (place < excerpt.points.size())
                      {
                        excerpt.points[place] = point;
                      }
                    });

    return excerpt;
  }


  UnixSeconds History::Series::GetBegin(UnixSeconds since) const
  {
    const std::int64_t oldest = std::max(first_, newest_ - capacity_ + 1);

    if (since > (newest_ + 1) * resolution_.count() + CLOCK_TOLERANCE)
    {
      return oldest * resolution_.count();
    }

    const std::int64_t wanted = (since + resolution_.count() - 1) / resolution_.count();
    return std::max(wanted, oldest) * resolution_.count();
  }
}
