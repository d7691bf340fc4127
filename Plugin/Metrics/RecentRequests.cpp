// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/RecentRequests.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::chrono::seconds SLOT(20);
    constexpr std::size_t SLOTS = 15;    // five minutes
    constexpr std::size_t SLOWEST = 20;  // of each class
    constexpr std::chrono::hours REMEMBERED(1);

    bool IsSlower(const FinishedRequest& a, const FinishedRequest& b)
    {
      return a.GetDuration() > b.GetDuration();
    }
  }

  bool RequestFilter::Matches(const FinishedRequest& request) const
  {
    return (!route || request.route == *route) &&
           (!client || request.address == *client || request.product == *client);
  }

  RecentRequests::RecentRequests(std::size_t capacity, Now now) :
    now_(std::move(now)),
    latest_(capacity),
    slots_(SLOT, SLOTS, now_())
  {
  }

  void RecentRequests::OnRequestFinished(const FinishedRequest& request)
  {
    const auto route = static_cast<std::size_t>(request.route);
    const std::lock_guard lock(mutex_);
    std::vector<FinishedRequest>& slowest = slowest_[route];
    slots_.At(now_())[route].Add(request);
    latest_.push_front(request);

    slowest.erase(std::remove_if(slowest.begin(), slowest.end(),
                                 [&request](const FinishedRequest& old)
                                 { return request.endedAt - old.endedAt > REMEMBERED; }),
                  slowest.end());

    const auto place = std::upper_bound(slowest.begin(), slowest.end(), request, &IsSlower);

    if (place != slowest.end() || slowest.size() < SLOWEST)
    {
      slowest.insert(place, request);
      slowest.resize(std::min(slowest.size(), SLOWEST));
    }
  }

  std::vector<FinishedRequest> RecentRequests::Latest(std::size_t limit,
                                                      const RequestFilter& filter) const
  {
    std::vector<FinishedRequest> latest;
    const std::lock_guard lock(mutex_);

    std::copy_if(latest_.begin(), latest_.end(), std::back_inserter(latest),
                 [&filter](const FinishedRequest& request) { return filter.Matches(request); });
    latest.resize(std::min(latest.size(), limit));
    return latest;
  }

  std::vector<FinishedRequest> RecentRequests::Slowest(std::size_t limit,
                                                       const RequestFilter& filter) const
  {
    std::vector<FinishedRequest> slowest;
    const std::lock_guard lock(mutex_);
    const TimePoint now = now_();

    for (const std::vector<FinishedRequest>& ofClass : slowest_)
    {
      std::copy_if(ofClass.begin(), ofClass.end(), std::back_inserter(slowest),
                   [&](const FinishedRequest& request)
                   { return filter.Matches(request) && now - request.endedAt <= REMEMBERED; });
    }

    std::sort(slowest.begin(), slowest.end(), &IsSlower);
    slowest.resize(std::min(slowest.size(), limit));
    return slowest;
  }

  std::vector<ReadSummary> RecentRequests::Summarize() const
  {
    std::vector<ReadSummary> sums(ROUTE_CLASS_COUNT);
    const std::lock_guard lock(mutex_);
    slots_.ForEach(slots_.GetBegin(now_(), SLOTS),
                   [&sums](const auto& slot, TimePoint) { AddEach(sums, slot); });
    return sums;
  }
}
