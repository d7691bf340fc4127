// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/GivenUpInstances.h"

#include <algorithm>
#include <iterator>

namespace OrthancPerf
{
  void GivenUpInstances::Add(const EndedInstance& instance)
  {
    latest_.push_back({instance.identity.hasher.GetInstanceId(), !instance.evidence.filterReached});

    if (latest_.size() > MAXIMUM)
    {
      latest_.pop_front();
    }
  }


  bool GivenUpInstances::IsBeforeFilter() const
  {
    return !latest_.empty() && latest_.back().isBeforeFilter;
  }


  bool GivenUpInstances::Take(const std::string& instanceId, bool mayBeAny)
  {
    const auto found = std::find_if(latest_.rbegin(), latest_.rend(),
                                    [&instanceId](const GivenUp& instance)
                                    { return instance.instanceId == instanceId; });

    if (found != latest_.rend())
    {
      latest_.erase(std::prev(found.base()));
      return true;
    }

    if (!mayBeAny || latest_.empty())
    {
      return false;
    }

    latest_.pop_back();
    return true;
  }
}
