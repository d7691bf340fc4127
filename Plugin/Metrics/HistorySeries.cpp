// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/HistorySeries.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // NTP moves a clock by less than this without anybody setting it (ntpd(8), "step threshold",
    // is 0.128 s); threads come with their times out of order by much less
    constexpr UnixSeconds CLOCK_TOLERANCE = 5;

    // Rounded up; for times after 1970
    std::int64_t DivideUp(std::int64_t dividend, std::int64_t divisor)
    {
      return (dividend + divisor - 1) / divisor;
    }
  }


  HistorySeries::HistorySeries(std::chrono::seconds resolution, std::size_t capacity,
                               UnixSeconds start) :
    resolution_(resolution),
    points_(capacity),
    first_(start / resolution.count()),
    newest_(first_)
  {
  }


  HistoryPoint& HistorySeries::At(UnixSeconds time) noexcept
  {
    const std::int64_t number = time / resolution_.count();

    if (time + CLOCK_TOLERANCE < newest_ * resolution_.count())
    {
      Restart(number);
    }

    const auto size = static_cast<std::int64_t>(points_.size());
    std::int64_t next = std::max(newest_ + 1, number - size + 1);

    for (; next <= number; next++)
    {
      points_[static_cast<std::size_t>(next % size)] = HistoryPoint();
    }

    newest_ = std::max(newest_, number);
    return points_[static_cast<std::size_t>(newest_ % size)];
  }


  UnixSeconds HistorySeries::GetBegin(UnixSeconds since) const
  {
    if (since > (newest_ + 1) * resolution_.count() + CLOCK_TOLERANCE)
    {
      return GetOldest() * resolution_.count();
    }

    const std::int64_t wanted = DivideUp(std::max<UnixSeconds>(since, 0), resolution_.count());
    return std::max(wanted, GetOldest()) * resolution_.count();
  }


  std::vector<HistoryPoint> HistorySeries::GetOver(UnixSeconds begin, UnixSeconds now) const
  {
    const auto size = static_cast<std::int64_t>(points_.size());
    const std::int64_t end = std::min<std::int64_t>(now / resolution_.count(), newest_ + 1);
    std::vector<HistoryPoint> points;

    for (std::int64_t number = begin / resolution_.count(); number < end; number++)
    {
      points.push_back(points_[static_cast<std::size_t>(number % size)]);
    }

    return points;
  }


  void HistorySeries::Restart(std::int64_t number) noexcept
  {
    std::fill(points_.begin(), points_.end(), HistoryPoint());
    first_ = number;
    newest_ = number;
  }


  std::int64_t HistorySeries::GetOldest() const
  {
    return std::max(first_, newest_ - static_cast<std::int64_t>(points_.size()) + 1);
  }
}
