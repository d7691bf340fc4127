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
    series_{MakeSeries(std::chrono::seconds(1), SECONDS_KEPT),
            MakeSeries(std::chrono::minutes(1), MINUTES_KEPT)}
  {
    for (Series& series : series_)
    {
      series.begin = GetTime();
    }
  }

  void History::OnInstanceFinished(const FinishedInstance& instance) noexcept
  {
    Record(static_cast<std::size_t>(instance.direction), instance);
  }

  void History::OnAssociationFinished(const FinishedAssociation& association) noexcept
  {
    if (association.direction == Direction::Send && association.HasFailed())
    {
      const std::lock_guard lock(mutex_);
      Add([](HistoryPoint& point) { point.failedCalls++; });
    }
  }

  void History::OnRequestFinished(const FinishedRequest& request)
  {
    Record(SERVE, ToTraffic(request));
  }

  void History::Record(std::size_t place, const FinishedInstance& instance) noexcept
  {
    const std::lock_guard lock(mutex_);
    areStallsObserved_[place] |= instance.areStallsObserved;
    Add([&](HistoryPoint& point) { point.directions[place].Add(instance); });
  }

  void History::Observe(std::size_t associations, const AdmissionFigures& budget) noexcept
  {
    const std::lock_guard lock(mutex_);
    const double waited = ToSeconds(budget.waited - budget_.waited);
    openAssociations_ = static_cast<std::uint32_t>(associations);
    budget_ = budget;

    if (associations > 0 || budget.held > 0 || budget.waiting > 0 || waited > 0)
    {
      Add([waited](HistoryPoint& point) { point.budgetWaited += waited; });
    }
  }

  HistoryExcerpt History::Read(HistoryResolution resolution, UnixSeconds since)
  {
    const std::lock_guard lock(mutex_);
    const Series& series = series_.at(static_cast<std::size_t>(resolution));
    const UnixSeconds step = series.resolution.count();
    const UnixSeconds now = GetTime();
    const UnixSeconds end = now / step;
    const UnixSeconds oldest = std::max(series.begin / step, end - series.capacity + 1);
    const UnixSeconds wanted = since > now + step + CLOCK_TOLERANCE ? 0 : (since + step - 1) / step;
    const UnixSeconds first = std::max(wanted, oldest);

    HistoryExcerpt excerpt;
    excerpt.resolution = series.resolution;
    excerpt.begin = first * step;
    excerpt.areStallsObserved = areStallsObserved_;
    excerpt.points.resize(static_cast<std::size_t>(std::max<UnixSeconds>(end - first, 0)));

    const TimePoint begin = ToTimePoint(excerpt.begin);
    series.points.ForEach(begin,
                          [&](const HistoryPoint& point, TimePoint time)
                          {
                            const auto place =
                                static_cast<std::size_t>((time - begin) / series.resolution);

                            if (place < excerpt.points.size())
                            {
                              excerpt.points[place] = point;
                            }
                          });

    return excerpt;
  }

  History::Series History::MakeSeries(std::chrono::seconds resolution, std::int64_t capacity)
  {
    return {resolution, capacity, {resolution, static_cast<std::size_t>(capacity), TimePoint()}, 0};
  }

  template <typename Change>
  void History::Add(const Change& change) noexcept
  {
    const TimePoint now = ToTimePoint(GetTime());

    for (Series& series : series_)
    {
      HistoryPoint& point = series.points.At(now);
      point.associations = std::max(point.associations, openAssociations_);
      point.budgetHeld = std::max(point.budgetHeld, budget_.held);
      point.budgetWaiting =
          std::max(point.budgetWaiting, static_cast<std::uint32_t>(budget_.waiting));
      change(point);
    }
  }

  UnixSeconds History::GetTime() noexcept
  {
    using std::chrono::seconds;
    const UnixSeconds now = std::chrono::duration_cast<seconds>(now_().time_since_epoch()).count();

    if (now + CLOCK_TOLERANCE < latest_)
    {
      for (Series& series : series_)
      {
        if (now / series.resolution.count() < latest_ / series.resolution.count())
        {
          series.points.Clear(TimePoint());
          series.begin = now;
        }
      }

      latest_ = now;
    }

    latest_ = std::max(latest_, now);
    return latest_;
  }
}
