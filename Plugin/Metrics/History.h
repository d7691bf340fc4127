// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Admission/AdmissionQueue.h"
#include "Ingest/Journal.h"
#include "Metrics/TrafficBucket.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace OrthancPerf
{
  // Seconds since 1970-01-01 00:00 UTC, as charts and Prometheus count them
  using UnixSeconds = std::int64_t;

  enum class HistoryResolution
  {
    Second,  // for an hour
    Minute   // for a day
  };

  template <>
  inline constexpr std::array LABELS<HistoryResolution> = {"second", "minute"};

  // One point of all charts: what went during one second, or one minute
  struct HistoryPoint
  {
    std::array<TrafficBucket, TRAFFIC_COUNT> directions;  // SERVE is the last one
    std::uint32_t associations = 0;   // the most that were open at once, as far as it was looked
    std::uint32_t failedCalls = 0;    // by Orthanc, of modalities and peers
    std::uint32_t budgetWaiting = 0;  // messages at once, likewise
    std::uint64_t budgetHeld = 0;     // bytes, likewise
    double budgetWaited = 0;          // seconds
  };

  // A stretch of the past: one point after the other, each of them over
  struct HistoryExcerpt
  {
    std::chrono::seconds resolution{1};
    UnixSeconds begin = 0;  // of the first point, or of the one that comes next if there is none
    std::array<bool, TRAFFIC_COUNT> areStallsObserved = {};  // of any instance since the start
    std::vector<HistoryPoint> points;
  };

  // What charts need: the last hour by the second and the last day by the minute. An instance
  // belongs to the point in which it is published, so that a point that is over never changes.
  //
  // Owned by the plugin's context; any thread may call it. At most 5,040 points of 1.1 kB:
  // 5.6 MB, reserved at the beginning and touched as there is something; recording takes some
  // 200 ns an instance.
  class History : public IJournalObserver
  {
  public:
    using WallNow = std::function<std::chrono::system_clock::time_point()>;

    explicit History(WallNow now = &std::chrono::system_clock::now);

    void OnInstanceFinished(const FinishedInstance& instance) noexcept override;
    void OnAssociationFinished(const FinishedAssociation& association) noexcept override;
    void OnRequestFinished(const FinishedRequest& request) override;

    // How many associations are open now, and what the instances in flight take and have waited for
    // since the start; to be told at least once a second
    void Observe(std::size_t associations, const AdmissionFigures& budget) noexcept;

    // All points that are kept and begin at "since" (0: all) or later. All of them, too, if that is
    // in the future: the reader has points from before the clock was set back.
    HistoryExcerpt Read(HistoryResolution resolution, UnixSeconds since);

  private:
    struct Series
    {
      std::chrono::seconds resolution;
      std::int64_t capacity;
      SlotRing<HistoryPoint> points;
      UnixSeconds begin = 0;  // of the first point ever
    };

    static Series MakeSeries(std::chrono::seconds resolution, std::int64_t capacity);
    void Record(std::size_t place, const FinishedInstance& instance) noexcept;

    // With the lock held: the time. A clock that goes back a little stands still instead. When it
    // is set back, each series whose latest point would lie in the future begins anew.
    UnixSeconds GetTime() noexcept;

    // With the lock held: changes the current point of each series
    template <typename Change>
    void Add(const Change& change) noexcept;

    const WallNow now_;
    std::mutex mutex_;
    std::array<Series, LABELS<HistoryResolution>.size()> series_;
    UnixSeconds latest_ = 0;  // the time of the latest call
    std::uint32_t openAssociations_ = 0;
    std::array<bool, TRAFFIC_COUNT> areStallsObserved_ = {};
    AdmissionFigures budget_;
  };
}
