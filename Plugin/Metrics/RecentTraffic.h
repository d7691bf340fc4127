// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Metrics/LatestTraffic.h"
#include "Metrics/TrafficSummary.h"

#include <array>
#include <functional>
#include <mutex>
#include <vector>

namespace OrthancPerf
{
  struct WindowSummary
  {
    Duration length = Duration::zero();                    // the nominal one: a minute
    Duration covered = Duration::zero();                   // what the rates are divided by
    std::array<TrafficSummary, TRAFFIC_COUNT> directions;  // SERVE is the last one

    TrafficRates GetRates(std::size_t place) const
    {
      return TrafficRates::Make(directions.at(place), covered);
    }

    TrafficRates GetRates(Direction direction) const
    {
      return GetRates(static_cast<std::size_t>(direction));
    }
  };

  // Rates and phase percentiles over the last 10 seconds, minute and 5 minutes, for
  // GET /perf/status. All windows are sums over one ring with a slot of five seconds.
  //
  //   traffic.OnInstanceFinished(instance);
  //   const TrafficRates rates = traffic.Summarize().front().GetRates(Direction::Receive);
  //
  // Owned by the plugin's context; any thread may call it. One mutex guards the ring. Recording
  // holds it for a microsecond, a summary for a tenth of a millisecond. 0.6 MB, fixed.
  class RecentTraffic : public IJournalObserver
  {
  public:
    using Now = std::function<TimePoint()>;

    // Asks this clock for the time of each instance and summary
    explicit RecentTraffic(Now now = &Clock::now);

    void OnInstanceFinished(const FinishedInstance& instance) noexcept override;
    void OnRequestFinished(const FinishedRequest& request) override;

    // The shortest window first. Not on the stack: a summary has some 10 kB, and civetweb gives its
    // threads 100 kB in all (USE_STACK_SIZE).
    std::vector<WindowSummary> Summarize() const;

  private:
    using Slot = std::array<TrafficSummary, TRAFFIC_COUNT>;

    void Record(std::size_t place, const FinishedInstance& instance) noexcept;

    const Now now_;
    mutable std::mutex mutex_;
    SlotRing<Slot> slots_;

    // By any instance since the start: while nothing comes, there are no stalls
    std::array<bool, TRAFFIC_COUNT> areStallsObserved_ = {};
  };
}
