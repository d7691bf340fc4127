// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Metrics/TrafficBucket.h"

#include <array>
#include <functional>
#include <mutex>
#include <vector>

namespace OrthancPerf
{
  // Seconds. On a LAN the answer takes milliseconds. 35 to 50 ms and 180 to 250 ms hold what met
  // one delayed ACK. 0.9 to 1.1 s hold what met one second: a SYN that was lost (RFC 6298 section
  // 2.1), or a peer that sleeps.
  inline constexpr std::array SETUP_BOUNDS = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02,
                                              0.035,  0.05,  0.1,    0.18,  0.25, 0.5,
                                              0.9,    1.1,   2.5,    5.0,   10.0, 30.0};

  using SetupHistogram = BucketHistogram<SETUP_BOUNDS>;

  // Since the start
  struct ServerTotals
  {
    std::vector<TrafficSummary> origins;  // by Origin: what was received
    std::vector<SetupHistogram> setups;   // by Direction: how long associations took to be answered
    std::vector<ReadSummary> reads;       // by RouteClass
  };

  struct WindowSummary
  {
    Duration length = Duration::zero();                    // the nominal one: a minute
    Duration covered = Duration::zero();                   // what the rates are divided by
    std::array<TrafficSummary, TRAFFIC_COUNT> directions;  // SERVE is the last one

    TrafficRates GetRates(std::size_t place) const
    {
      return TrafficRates::Make(directions.at(place), covered);
    }
  };

  // What the whole server received, sent and served: totals for the metrics, and rates and phase
  // percentiles over the last 10 seconds, minute and 5 minutes for GET /perf/status. All windows
  // are sums over one ring with a slot of five seconds.
  //
  // Owned by the plugin's context; any thread may call it. One mutex guards all. Recording holds it
  // for a microsecond, a summary for a tenth of a millisecond. 0.6 MB, fixed.
  class ServerTraffic : public IJournalObserver
  {
  public:
    using Now = std::function<TimePoint()>;

    explicit ServerTraffic(Now now = &Clock::now);

    void OnInstanceFinished(const FinishedInstance& instance) noexcept override;
    void OnAssociationFinished(const FinishedAssociation& association) noexcept override;
    void OnRequestFinished(const FinishedRequest& request) override;

    ServerTotals GetTotals() const;

    TrafficBucket GetReceived() const;

    // The shortest window first. Not on the stack: a summary has some 10 kB, and civetweb gives its
    // threads 100 kB in all (USE_STACK_SIZE).
    std::vector<WindowSummary> SummarizeWindows() const;

  private:
    // With the lock held
    void Record(std::size_t place, const FinishedInstance& instance) noexcept;

    const Now now_;
    mutable std::mutex mutex_;
    ServerTotals totals_;
    SlotRing<std::array<TrafficSummary, TRAFFIC_COUNT>> slots_;

    // By any instance since the start: while nothing comes, there are no stalls
    std::array<bool, TRAFFIC_COUNT> areStallsObserved_ = {};
  };
}
