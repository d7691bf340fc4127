// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/DuplicateFinder.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

namespace OrthancPerf
{
  DuplicateFinder::DuplicateFinder(Lookup lookup, Now now) :
    lookup_(std::move(lookup)),
    now_(std::move(now))
  {
  }


  bool DuplicateFinder::IsStored(const InstanceIdentity& instance) noexcept
  {
    try
    {
      const std::string& uid = instance.GetSopInstanceUid();
      const std::size_t kin = std::hash<std::string>()(uid.substr(0, uid.rfind('.')));
      Pause& pause = pauses_.at(kin % pauses_.size());
      const TimePoint begin = now_();

      if (const std::lock_guard<std::mutex> lock(mutex_); pause.kin == kin && begin < pause.end)
      {
        return false;
      }

      bool isStored = false;

      try
      {
        isStored = !instance.GetInstanceId().empty() && lookup_(instance.GetInstanceId());
      }
      catch (const std::exception&)
      {
        // and the next are not asked for at once, either
      }

      if (!isStored)
      {
        const TimePoint end = now_();
        const std::lock_guard<std::mutex> lock(mutex_);
        pause = {kin, end + std::min<Duration>(PAUSE_FACTOR * (end - begin), LONGEST_PAUSE)};
      }

      return isStored;
    }
    catch (const std::exception&)
    {
      return false;
    }
  }
}
