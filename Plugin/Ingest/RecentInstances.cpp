// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/RecentInstances.h"

#include <utility>

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
    Ring& ring = instance.outcome == Outcome::Stored ? stored_ : others_;
    ring.push_front(instance);

    // Threads report their instances some milliseconds after their end, in any order. By a clock
    // that is never set back, or what comes then would be taken for the oldest, and dropped.
    for (std::size_t age = 0; age + 1 < ring.size(); age++)
    {
      if (ring[age].endedAt >= ring[age + 1].endedAt)
      {
        break;
      }

      std::swap(ring[age], ring[age + 1]);
    }
  }

  std::vector<FinishedInstance> RecentInstances::Latest(std::size_t limit,
                                                        const InstanceFilter& filter) const
  {
    std::vector<FinishedInstance> latest;
    const std::lock_guard lock(mutex_);

    for (auto stored = stored_.begin(), other = others_.begin(); latest.size() < limit;)
    {
      const bool hasStored = stored != stored_.end();
      const bool hasOther = other != others_.end();

      if (!hasStored && !hasOther)
      {
        break;
      }

      const bool isStored = hasStored && (!hasOther || stored->endedAt >= other->endedAt);
      const FinishedInstance& instance = isStored ? *stored++ : *other++;

      if (filter.Matches(instance))
      {
        latest.push_back(instance);
      }
    }

    return latest;
  }
}
