// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/RecentInstances.h"

#include <algorithm>
#include <iterator>

namespace OrthancPerf
{
  bool InstanceFilter::Matches(const FinishedInstance& instance) const
  {
    return (!id || instance.instanceId == *id) && (!peer || instance.peer.name == *peer) &&
           (!origin || instance.origin == *origin) &&
           (!direction || instance.direction == *direction) &&
           (!outcome || instance.outcome == *outcome);
  }

  RecentInstances::RecentInstances(std::size_t capacity) : stored_(capacity), others_(capacity)
  {
  }

  void RecentInstances::OnInstanceFinished(const FinishedInstance& instance)
  {
    const std::lock_guard lock(mutex_);
    (instance.outcome == Outcome::Stored ? stored_ : others_).push_front(instance);
  }

  std::vector<FinishedInstance> RecentInstances::Latest(std::size_t limit,
                                                        const InstanceFilter& filter) const
  {
    std::vector<const FinishedInstance*> matching;
    std::vector<FinishedInstance> latest;
    const std::lock_guard lock(mutex_);

    for (const Ring* ring : {&stored_, &others_})
    {
      for (const FinishedInstance& instance : *ring)
      {
        if (filter.Matches(instance))
        {
          matching.push_back(&instance);
        }
      }
    }

    // Threads report their instances some milliseconds after their end, in any order
    std::stable_sort(matching.begin(), matching.end(),
                     [](const FinishedInstance* a, const FinishedInstance* b)
                     { return a->endedAt > b->endedAt; });
    matching.resize(std::min(limit, matching.size()));
    std::transform(matching.begin(), matching.end(), std::back_inserter(latest),
                   [](const FinishedInstance* instance) { return *instance; });
    return latest;
  }
}
