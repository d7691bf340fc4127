// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/Traffic.h"

namespace OrthancPerf
{
  void Traffic::Add(const FinishedInstance& instance) noexcept
  {
    instances++;
    bytes += instance.size;
    outcomes[static_cast<std::size_t>(instance.outcome)]++;
    areStallsObserved = areStallsObserved || instance.areStallsObserved;
    stalls += instance.stalls;
    stallTime += instance.stallTime;
    phases.Add(instance.phases);

    if (instance.remote)
    {
      isRemoteObserved = true;
      remoteRoundTrips += instance.remote->roundTrips;
    }

    if (instance.database)
    {
      isDatabaseObserved = true;
      databaseRoundTrips += instance.database->roundTrips;
      databaseQueued += instance.database->queued.value_or(Duration::zero());
    }
  }


  void Traffic::Add(const Traffic& other) noexcept
  {
    instances += other.instances;
    bytes += other.bytes;
    areStallsObserved = areStallsObserved || other.areStallsObserved;
    stalls += other.stalls;
    stallTime += other.stallTime;
    isRemoteObserved = isRemoteObserved || other.isRemoteObserved;
    remoteRoundTrips += other.remoteRoundTrips;
    isDatabaseObserved = isDatabaseObserved || other.isDatabaseObserved;
    databaseRoundTrips += other.databaseRoundTrips;
    databaseQueued += other.databaseQueued;
    phases.Add(other.phases);

    for (std::size_t i = 0; i < OUTCOME_COUNT; i++)
    {
      outcomes[i] += other.outcomes[i];
    }
  }


  void Traffic::SetRates(Duration time) noexcept
  {
    instancesPerSecond = static_cast<double>(instances) / ToSeconds(time);
    bytesPerSecond = static_cast<double>(bytes) / ToSeconds(time);
  }
}
