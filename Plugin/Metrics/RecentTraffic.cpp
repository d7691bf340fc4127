// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/RecentTraffic.h"

#include <utility>

namespace OrthancPerf
{
  RecentTraffic::RecentTraffic(const Now& now) : RecentTraffic(now, now())
  {
  }

  RecentTraffic::RecentTraffic(Now now, TimePoint start) :
    now_(std::move(now)),
    windows_{{{std::chrono::seconds(10), 10, start},
              {std::chrono::minutes(1), 20, start},
              {std::chrono::minutes(5), 20, start}}}
  {
  }

  void RecentTraffic::OnInstanceFinished(const FinishedInstance& instance) noexcept
  {
    const TimePoint now = now_();

    for (RollingWindow& window : windows_)
    {
      window.Add(instance, now);
    }
  }

  std::array<WindowSummary, WINDOW_COUNT> RecentTraffic::Summarize() const
  {
    const TimePoint now = now_();
    std::array<WindowSummary, WINDOW_COUNT> summaries;

    for (std::size_t i = 0; i < WINDOW_COUNT; i++)
    {
      summaries[i] = windows_[i].Summarize(now);
    }

    return summaries;
  }
}
