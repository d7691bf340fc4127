// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/ServerTraffic.h"

#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // In slots: 10 seconds, a minute and 5 minutes
    constexpr std::array<std::size_t, 3> WINDOWS = {2, SLOTS_OF_A_MINUTE, 5 * SLOTS_OF_A_MINUTE};
  }

  ServerTraffic::ServerTraffic(Now now) :
    now_(std::move(now)),
    slots_(SLOT_LENGTH, WINDOWS.back(), now_())
  {
    totals_.origins.resize(ORIGIN_COUNT);
    totals_.setups.resize(DIRECTION_COUNT);
    totals_.reads.resize(ROUTE_CLASS_COUNT);
  }

  void ServerTraffic::OnInstanceFinished(const FinishedInstance& instance) noexcept
  {
    const std::lock_guard lock(mutex_);
    Record(static_cast<std::size_t>(instance.direction), instance);

    if (instance.direction == Direction::Receive)
    {
      totals_.origins[static_cast<std::size_t>(instance.origin)].Add(instance);
    }
  }

  void ServerTraffic::OnAssociationFinished(const FinishedAssociation& association) noexcept
  {
    if (association.setup)
    {
      const std::lock_guard lock(mutex_);
      totals_.setups[static_cast<std::size_t>(association.direction)].Add(
          ToSeconds(*association.setup));
    }
  }

  void ServerTraffic::OnRequestFinished(const FinishedRequest& request)
  {
    const FinishedInstance traffic = ToTraffic(request);
    const std::lock_guard lock(mutex_);
    Record(SERVE, traffic);
    totals_.reads[static_cast<std::size_t>(request.route)].Add(request);
  }

  ServerTotals ServerTraffic::GetTotals() const
  {
    const std::lock_guard lock(mutex_);
    return totals_;
  }

  TrafficBucket ServerTraffic::GetReceived() const
  {
    TrafficBucket sum;
    const std::lock_guard lock(mutex_);

    for (const TrafficSummary& origin : totals_.origins)
    {
      sum += origin;
    }

    return sum;
  }

  std::vector<WindowSummary> ServerTraffic::SummarizeWindows() const
  {
    std::vector<WindowSummary> summaries(WINDOWS.size());
    const std::lock_guard lock(mutex_);
    const TimePoint now = now_();

    for (std::size_t window = 0; window < WINDOWS.size(); window++)
    {
      WindowSummary& summary = summaries[window];
      summary.length = SLOT_LENGTH * WINDOWS[window];
      summary.covered = slots_.GetCovered(now, WINDOWS[window]);

      slots_.ForEach(slots_.GetBegin(now, WINDOWS[window]),
                     [&](const auto& slot, TimePoint) { AddEach(summary.directions, slot); });

      for (std::size_t i = 0; i < TRAFFIC_COUNT; i++)
      {
        summary.directions[i].areStallsObserved = areStallsObserved_[i];
      }
    }

    return summaries;
  }

  void ServerTraffic::Record(std::size_t place, const FinishedInstance& instance) noexcept
  {
    slots_.At(now_())[place].Add(instance);
    areStallsObserved_[place] |= instance.areStallsObserved;
  }
}
