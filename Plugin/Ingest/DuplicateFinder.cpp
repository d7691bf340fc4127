// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/DuplicateFinder.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <string_view>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    std::size_t HashKin(std::string_view uid)
    {
      return std::hash<std::string_view>()(uid.substr(0, uid.rfind('.')));
    }
  }


  DuplicateFinder::DuplicateFinder(Lookup lookup, Now now) :
    lookup_(std::move(lookup)),
    now_(std::move(now))
  {
  }


  bool DuplicateFinder::IsStored(const InstanceIdentity& instance) noexcept
  {
    try
    {
      const std::size_t kin = HashKin(instance.GetSopInstanceUid());
      const TimePoint begin = now_();

      if (IsPaused(kin, begin))
      {
        return false;
      }

      const bool isStored = Ask(instance.GetInstanceId());

      if (!isStored)
      {
        const TimePoint end = now_();
        Begin({kin, end + std::min<Duration>(PAUSE_FACTOR * (end - begin), LONGEST_PAUSE)});
      }

      return isStored;
    }
    catch (const std::exception&)
    {
      return false;
    }
  }


  bool DuplicateFinder::Ask(const std::string& instanceId)
  {
    try
    {
      return !instanceId.empty() && lookup_(instanceId);
    }
    catch (const std::exception&)
    {
      return false;  // and the next are not asked for at once, either
    }
  }


  bool DuplicateFinder::IsPaused(std::size_t kin, TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Pause& pause = pauses_.at(kin % PAUSE_COUNT);
    return pause.kin == kin && now < pause.end;
  }


  void DuplicateFinder::Begin(const Pause& pause)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    pauses_.at(pause.kin % PAUSE_COUNT) = pause;
  }
}
