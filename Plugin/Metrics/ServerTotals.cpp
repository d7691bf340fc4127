// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/ServerTotals.h"

namespace OrthancPerf
{
  ServerTotals::ServerTotals() :
    origins_(ORIGIN_COUNT),
    setups_(DIRECTION_COUNT),
    reads_(ROUTE_CLASS_COUNT)
  {
  }


  void ServerTotals::OnInstanceFinished(const FinishedInstance& instance) noexcept
  {
    if (instance.direction != Direction::Receive)
    {
      return;
    }

    const std::lock_guard lock(mutex_);
    origins_[static_cast<std::size_t>(instance.origin)].Add(instance);
  }


  void ServerTotals::OnAssociationFinished(const FinishedAssociation& association) noexcept
  {
    if (association.setup)
    {
      const std::lock_guard lock(mutex_);
      setups_[static_cast<std::size_t>(association.direction)].Add(ToSeconds(*association.setup));
    }
  }


  void ServerTotals::OnRequestFinished(const FinishedRequest& request) noexcept
  {
    const std::lock_guard lock(mutex_);
    reads_[static_cast<std::size_t>(request.route)].Add(request);
  }


  std::vector<ReadSummary> ServerTotals::GetReads() const
  {
    const std::lock_guard lock(mutex_);
    return reads_;
  }


  std::vector<TrafficSummary> ServerTotals::GetOrigins() const
  {
    const std::lock_guard lock(mutex_);
    return origins_;
  }


  TrafficBucket ServerTotals::GetReceived() const
  {
    TrafficBucket sum;
    const std::lock_guard lock(mutex_);

    for (const TrafficSummary& origin : origins_)
    {
      sum.Add(origin);
    }

    return sum;
  }


  std::vector<SetupHistogram> ServerTotals::GetSetups() const
  {
    const std::lock_guard lock(mutex_);
    return setups_;
  }
}
