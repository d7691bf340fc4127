// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/RollingWindow.h"

namespace OrthancPerf
{
  RollingWindow::RollingWindow(Duration length, std::size_t slotCount, TimePoint start) :
    length_(length),
    slots_(length / slotCount, slotCount, start)
  {
  }

  void RollingWindow::Add(const FinishedInstance& instance, TimePoint now)
  {
    const std::lock_guard lock(mutex_);
    const auto direction = static_cast<std::size_t>(instance.direction);
    slots_.At(now)[direction].Add(instance);
    areStallsObserved_[direction] = areStallsObserved_[direction] || instance.areStallsObserved;
  }

  void RollingWindow::Summarize(TimePoint now, WindowSummary& summary) const
  {
    summary.length = length_;
    summary.covered = slots_.GetCovered(now);
    const std::lock_guard lock(mutex_);

    for (std::size_t i = 0; i < DIRECTION_COUNT; i++)
    {
      TrafficSummary& traffic = summary.directions[i];
      slots_.ForEach(now, [&traffic, i](const Slot& slot) { traffic.Add(slot[i]); });
      traffic.areStallsObserved = areStallsObserved_[i];
      traffic.SetRates(summary.covered);
    }
  }

  void TrafficSummary::Add(const FinishedInstance& instance) noexcept
  {
    Traffic::Add(instance);
    bool hasDuration = false;

    for (const Phase phase : GetAllPhases())
    {
      if (const std::optional<Duration> time = instance.phases.Get(phase))
      {
        phases[static_cast<std::size_t>(phase)].Add(*time);
        hasDuration = hasDuration || IsPartOfDuration(phase);
      }
    }

    if (hasDuration)
    {
      duration.Add(instance.phases.GetTotal());
    }
  }

  void TrafficSummary::Add(const TrafficSummary& other) noexcept
  {
    Traffic::Add(other);
    duration.Add(other.duration);

    for (std::size_t i = 0; i < PHASE_COUNT; i++)
    {
      phases[i].Add(other.phases[i]);
    }
  }
}
