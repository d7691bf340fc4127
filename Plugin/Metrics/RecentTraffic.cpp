// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/RecentTraffic.h"

#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // In slots: 10 seconds, a minute and 5 minutes
    constexpr std::array<std::size_t, 3> WINDOWS = {2, SLOTS_OF_A_MINUTE, 5 * SLOTS_OF_A_MINUTE};
  }


  RecentTraffic::RecentTraffic(Now now) :
    now_(std::move(now)),
    slots_(SLOT_LENGTH, WINDOWS.back(), now_())
  {
  }


  void RecentTraffic::OnInstanceFinished(const FinishedInstance& instance) noexcept
  {
    Record(static_cast<std::size_t>(instance.direction), instance);
  }


  void RecentTraffic::OnRequestFinished(const FinishedRequest& request)
  {
    Record(SERVE, ToTraffic(request));
  }


  void RecentTraffic::Record(std::size_t place, const FinishedInstance& instance) noexcept
  {
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);
    slots_.At(now)[place].Add(instance);
    areStallsObserved_[place] = areStallsObserved_[place] || instance.areStallsObserved;
  }


  std::vector<WindowSummary> RecentTraffic::Summarize() const
  {
    const TimePoint now = now_();
    std::vector<WindowSummary> summaries(WINDOWS.size());
    const std::lock_guard lock(mutex_);

    for (std::size_t window = 0; window < WINDOWS.size(); window++)
    {
      WindowSummary& summary = summaries[window];
      summary.length = SLOT_LENGTH * WINDOWS[window];
      summary.covered = slots_.GetCovered(now, WINDOWS[window]);

      for (std::size_t i = 0; i < TRAFFIC_COUNT; i++)
      {
        TrafficSummary& traffic = summary.directions[i];
        slots_.ForEach(slots_.GetBegin(now, WINDOWS[window]),
                       [&traffic, i](const Slot& slot, TimePoint) { traffic.Add(slot[i]); });
        traffic.areStallsObserved = areStallsObserved_[i];
      }
    }

    return summaries;
  }
}
