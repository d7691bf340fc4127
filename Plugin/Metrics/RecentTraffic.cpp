// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/RecentTraffic.h"

#include <utility>

namespace OrthancPerf
{
  RecentTraffic::RecentTraffic(Now now) :
    now_(std::move(now)),
    windows_{{{std::chrono::seconds(10), 10, now_()},
              {std::chrono::minutes(1), 20, now_()},
              {std::chrono::minutes(5), 20, now_()}}}
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

  std::vector<WindowSummary> RecentTraffic::Summarize() const
  {
    const TimePoint now = now_();
    std::vector<WindowSummary> summaries(WINDOW_COUNT);

    for (std::size_t i = 0; i < WINDOW_COUNT; i++)
    {
      windows_[i].Summarize(now, summaries[i]);
    }

    return summaries;
  }
}
