// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/RecentInstances.h"

#include <utility>

namespace OrthancPerf
{
  RecentInstances::RecentInstances(std::size_t capacity) : ring_(capacity)
  {
  }

  void RecentInstances::OnInstanceFinished(const FinishedInstance& instance)
  {
    const std::lock_guard lock(mutex_);
    ring_.push_front(instance);

    // Threads report their instances some milliseconds after their end, in any order. By a clock
    // that is never set back, or what comes then would be taken for the oldest, and dropped.
    for (std::size_t age = 0; age + 1 < ring_.size(); age++)
    {
      if (ring_[age].endedAt >= ring_[age + 1].endedAt)
      {
        break;
      }

      std::swap(ring_[age], ring_[age + 1]);
    }
  }


  std::vector<FinishedInstance> RecentInstances::Latest(std::size_t limit,
                                                        const std::optional<std::string>& peer,
                                                        std::optional<Origin> origin,
                                                        std::optional<Direction> direction) const
  {
    std::vector<FinishedInstance> latest;
    const std::lock_guard lock(mutex_);

    for (const FinishedInstance& instance : ring_)
    {
      const bool isPeer = !peer || instance.peer.name == *peer;
      const bool isOrigin = !origin || instance.origin == *origin;
      const bool isDirection = !direction || instance.direction == *direction;

      if (latest.size() == limit)
      {
        break;
      }

      if (isPeer && isOrigin && isDirection)
      {
        latest.push_back(instance);
      }
    }

    return latest;
  }
}
