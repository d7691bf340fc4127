// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/RecentInstances.h"

#include <exception>
#include <utility>

namespace OrthancPerf
{
  RecentInstances::RecentInstances(std::size_t capacity) : capacity_(capacity)
  {
  }

  void RecentInstances::OnInstanceFinished(const FinishedInstance& instance) noexcept
  {
    if (capacity_ == 0)
    {
      return;
    }

    try
    {
      Store(instance);
    }
    catch (const std::exception&)
    {
      // Out of memory: one instance less in the list is better than Orthanc down
    }
  }

  std::vector<FinishedInstance> RecentInstances::Latest(std::size_t limit,
                                                        const std::optional<std::string>& peer,
                                                        std::optional<Origin> origin,
                                                        std::optional<Direction> direction) const
  {
    std::vector<FinishedInstance> latest;
    const std::lock_guard lock(mutex_);

    for (std::size_t age = 0; age < ring_.size() && latest.size() < limit; age++)
    {
      const FinishedInstance& instance = GetNewest(age);
      const bool isPeer = !peer || instance.peer.name == *peer;
      const bool isOrigin = !origin || instance.origin == *origin;
      const bool isDirection = !direction || instance.direction == *direction;

      if (isPeer && isOrigin && isDirection)
      {
        latest.push_back(instance);
      }
    }

    return latest;
  }

  void RecentInstances::Store(const FinishedInstance& instance)
  {
    const std::lock_guard lock(mutex_);

    if (ring_.size() < capacity_)
    {
      ring_.push_back(instance);
    }
    else
    {
      ring_[next_] = instance;
    }

    next_ = (next_ + 1) % capacity_;

    // Threads report their instances some milliseconds after their end, in any order
    for (std::size_t age = 0; age + 1 < ring_.size(); age++)
    {
      FinishedInstance& newer = GetNewest(age);
      FinishedInstance& older = GetNewest(age + 1);

      if (newer.finishedAt >= older.finishedAt)
      {
        break;
      }

      std::swap(newer, older);
    }
  }

  // The age of the newest is zero
  const FinishedInstance& RecentInstances::GetNewest(std::size_t age) const
  {
    return ring_[(next_ + ring_.size() - 1 - age) % ring_.size()];
  }

  FinishedInstance& RecentInstances::GetNewest(std::size_t age)
  {
    return ring_[(next_ + ring_.size() - 1 - age) % ring_.size()];
  }
}
