// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Metrics/RollingWindow.h"

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

namespace OrthancPerf
{
  constexpr std::size_t WINDOW_COUNT = 3;

  // Rates and phase percentiles over the last 10 seconds, minute and 5 minutes, for
  // GET /perf/status. Owned by the plugin's context; any thread may call it. 1.5 MB.
  class RecentTraffic : public IJournalObserver
  {
  public:
    using Now = std::function<TimePoint()>;

    // Asks this clock for the time of each instance and summary
    explicit RecentTraffic(Now now = &Clock::now);

    void OnInstanceFinished(const FinishedInstance& instance) noexcept override;

    // The shortest window first. Not on the stack: a summary has some 30 kB, and civetweb gives its
    // threads 100 kB in all (USE_STACK_SIZE).
    std::vector<WindowSummary> Summarize() const;

  private:
    const Now now_;
    std::array<RollingWindow, WINDOW_COUNT> windows_;
  };
}
