// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Metrics/TrafficBucket.h"

#include <boost/circular_buffer.hpp>

#include <array>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Which requests are asked for; what is not given matches all
  struct RequestFilter
  {
    std::optional<RouteClass> route;
    std::optional<std::string> client;  // an address, or the product of a User-Agent

    bool Matches(const FinishedRequest& request) const;
  };

  // Requests that read, for GET /perf/requests: the latest, slow ones, and sums by class over the
  // last five minutes. The slow ones are up to 20 of each class, at most an hour old. Owned by the
  // plugin's context; any thread may call it. Memory: "capacity" requests and 20 more a class, of
  // 300 bytes each, and 100 kB.
  class RecentRequests : public IJournalObserver
  {
  public:
    using Now = std::function<TimePoint()>;

    explicit RecentRequests(std::size_t capacity, Now now = &Clock::now);

    void OnRequestFinished(const FinishedRequest& request) override;

    // At most "limit" that match, newest first
    std::vector<FinishedRequest> Latest(std::size_t limit, const RequestFilter& filter) const;

    // At most "limit" that match, slowest first
    std::vector<FinishedRequest> Slowest(std::size_t limit, const RequestFilter& filter) const;

    // By RouteClass, over the last five minutes, to 20 s. Not on the stack: 20 kB.
    std::vector<ReadSummary> Summarize() const;

  private:
    const Now now_;
    mutable std::mutex mutex_;
    boost::circular_buffer<FinishedRequest> latest_;                       // the newest first
    std::array<std::vector<FinishedRequest>, ROUTE_CLASS_COUNT> slowest_;  // each slowest first
    SlotRing<std::array<ReadSummary, ROUTE_CLASS_COUNT>> slots_;
  };
}
