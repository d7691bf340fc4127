// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Admission/AdmissionQueue.h"
#include "Ingest/Journal.h"
#include "Metrics/HistorySeries.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

namespace OrthancPerf
{
  enum class HistoryResolution
  {
    Second,  // for an hour
    Minute   // for a day
  };

  constexpr std::size_t HISTORY_RESOLUTION_COUNT = 2;

  // A stretch of the past: one point after the other, each of them over
  struct HistoryExcerpt
  {
    std::chrono::seconds resolution{1};
    UnixSeconds begin = 0;  // of the first point, or of the one that comes next if there is none
    std::array<bool, DIRECTION_COUNT> areStallsObserved = {};  // of any instance since the start
    std::vector<HistoryPoint> points;
  };

  // What charts need: the last hour by the second and the last day by the minute. An instance
  // belongs to the point in which it is published, so that a point that is over never changes.
  //
  // Owned by the plugin's context; any thread may call it. 5,040 points of 220 bytes: 1.1 MB,
  // taken at the beginning; recording takes no further memory, and some 200 ns an instance.
  class History : public IJournalObserver
  {
  public:
    using WallNow = std::function<std::chrono::system_clock::time_point()>;

    explicit History(WallNow now = &std::chrono::system_clock::now);

    void OnInstanceFinished(const FinishedInstance& instance) noexcept override;

    // How many associations are open now; to be told at least once a second
    void SetOpenAssociations(std::size_t count) noexcept;

    // What the instances in flight take, and what they have waited for that since the start;
    // likewise
    void SetBudget(const AdmissionFigures& figures) noexcept;

    // All points that are kept and begin at "since" (0: all) or later. All of them, too, if that is
    // in the future: the reader has points from before the clock was set back.
    HistoryExcerpt Read(HistoryResolution resolution, UnixSeconds since);

  private:
    HistoryPoint& Advance(HistorySeries& series, UnixSeconds now) noexcept;
    UnixSeconds GetTime() const;

    const WallNow now_;
    std::mutex mutex_;
    std::array<HistorySeries, HISTORY_RESOLUTION_COUNT> series_;
    std::uint32_t openAssociations_ = 0;
    std::array<bool, DIRECTION_COUNT> areStallsObserved_ = {};
    AdmissionFigures budget_;
  };
}
