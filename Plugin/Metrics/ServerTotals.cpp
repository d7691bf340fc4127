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
    OriginTotals& origin = origins_[static_cast<std::size_t>(instance.origin)];
    origin.traffic.Add(instance);

    for (const Phase phase : GetAllPhases())
    {
      if (const std::optional<Duration> duration = instance.phases.Get(phase))
      {
        origin.phases[static_cast<std::size_t>(phase)].Add(ToSeconds(*duration));
      }
    }
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
    ReadTotals& totals = reads_[static_cast<std::size_t>(request.route)];
    totals.bytes += request.bytesSent;
    totals.clientWait += request.clientWait;
    totals.statuses[request.GetStatusPlace()]++;

    for (std::size_t i = 0; i < REQUEST_PHASE_COUNT; i++)
    {
      if (request.phases[i])
      {
        totals.phases[i].Add(ToSeconds(*request.phases[i]));
      }
    }
  }


  std::vector<ReadTotals> ServerTotals::GetReads() const
  {
    const std::lock_guard lock(mutex_);
    return reads_;
  }


  std::vector<OriginTotals> ServerTotals::GetOrigins() const
  {
    const std::lock_guard lock(mutex_);
    return origins_;
  }


  TrafficBucket ServerTotals::GetReceived() const
  {
    TrafficBucket sum;
    const std::lock_guard lock(mutex_);

    for (const OriginTotals& origin : origins_)
    {
      sum.Add(origin.traffic);
    }

    return sum;
  }


  std::vector<SetupHistogram> ServerTotals::GetSetups() const
  {
    const std::lock_guard lock(mutex_);
    return setups_;
  }
}
