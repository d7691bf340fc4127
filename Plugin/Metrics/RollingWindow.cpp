// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/RollingWindow.h"

namespace OrthancPerf
{
  namespace
  {
    std::optional<LatencySummary> Summarize(const LatencyHistogram& histogram)
    {
      if (histogram.GetCount() == 0)
      {
        return std::nullopt;
      }

      LatencySummary summary;
      summary.count = histogram.GetCount();
      summary.total = histogram.GetSum();
      summary.mean = histogram.GetMean();
      summary.median = histogram.GetQuantile(0.5);
      summary.percentile90 = histogram.GetQuantile(0.9);
      summary.percentile99 = histogram.GetQuantile(0.99);
      summary.maximum = histogram.GetMaximum();
      return summary;
    }
  }

  RollingWindow::RollingWindow(Duration length, std::size_t slotCount, TimePoint start) :
    length_(length),
    slots_(length / slotCount, slotCount, start)
  {
  }

  void RollingWindow::Add(const FinishedInstance& instance, TimePoint now)
  {
    const std::lock_guard lock(mutex_);
    slots_.At(now)[static_cast<std::size_t>(instance.direction)].Add(instance);
  }

  WindowSummary RollingWindow::Summarize(TimePoint now) const
  {
    const Slot merged = Merge(now);
    WindowSummary summary;
    summary.length = length_;
    summary.covered = slots_.GetCovered(now);

    for (std::size_t i = 0; i < DIRECTION_COUNT; i++)
    {
      summary.directions[i] = merged[i].Summarize(summary.covered);
    }

    return summary;
  }

  RollingWindow::Slot RollingWindow::Merge(TimePoint now) const
  {
    Slot merged;
    const std::lock_guard lock(mutex_);

    slots_.ForEach(now,
                   [&merged](const Slot& slot)
                   {
                     for (std::size_t i = 0; i < DIRECTION_COUNT; i++)
                     {
                       merged[i].Add(slot[i]);
                     }
                   });

    return merged;
  }

  void RollingWindow::Traffic::Add(const FinishedInstance& instance)
  {
    outcomes[static_cast<std::size_t>(instance.outcome)]++;
    instances++;
    bytes += instance.size;
    stalls += instance.stalls;
    stallTime += instance.stallTime;

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

  void RollingWindow::Traffic::Add(const Traffic& other)
  {
    for (std::size_t i = 0; i < OUTCOME_COUNT; i++)
    {
      outcomes[i] += other.outcomes[i];
    }

    instances += other.instances;
    bytes += other.bytes;
    stalls += other.stalls;
    stallTime += other.stallTime;
    duration.Add(other.duration);

    for (std::size_t i = 0; i < PHASE_COUNT; i++)
    {
      phases[i].Add(other.phases[i]);
    }
  }

  TrafficSummary RollingWindow::Traffic::Summarize(Duration covered) const
  {
    TrafficSummary summary;
    summary.instances = instances;
    summary.bytes = bytes;
    summary.instancesPerSecond = static_cast<double>(instances) / ToSeconds(covered);
    summary.bytesPerSecond = static_cast<double>(bytes) / ToSeconds(covered);
    summary.outcomes = outcomes;
    summary.stalls = stalls;
    summary.stallTime = stallTime;
    summary.duration = OrthancPerf::Summarize(duration);

    for (std::size_t i = 0; i < PHASE_COUNT; i++)
    {
      summary.phases[i] = OrthancPerf::Summarize(phases[i]);
    }

    return summary;
  }
}
