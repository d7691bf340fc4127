// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningChanges.h"

#include "Tuning/JsonMergePatch.h"
#include "Tuning/TuningReader.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // A preset is set by all that it stands for; "custom" is none that could be set
    Json::Value MakeUndo(const Json::Value& before, const Json::Value& after)
    {
      Json::Value undo = DiffJson(after, before);

      if (undo.isMember("DicomSockets"))
      {
        undo["DicomSockets"].removeMember("Preset");
      }

      return undo;
    }
  }


  TuningChanges::TuningChanges(WallNow now) : now_(std::move(now))
  {
  }


  void TuningChanges::OnTuningChanged(const Tuning& tuning) noexcept
  {
    try
    {
      Note(tuning);
    }
    catch (const std::exception&)
    {
      // Out of memory: the charts lack a mark
    }
  }


  std::vector<TuningChange>
  TuningChanges::GetSince(std::chrono::system_clock::time_point since) const
  {
    const std::lock_guard lock(mutex_);
    std::vector<TuningChange> found;
    std::copy_if(changes_.begin(), changes_.end(), std::back_inserter(found),
                 [since](const TuningChange& change) { return change.time >= since; });
    return found;
  }


  void TuningChanges::Note(const Tuning& tuning)
  {
    Json::Value after = ToJson(tuning);
    const std::lock_guard lock(mutex_);

    if (!inForce_.isNull() && after != inForce_)
    {
      changes_.push_back({now_(), DiffJson(inForce_, after), MakeUndo(inForce_, after)});

      if (changes_.size() > MAXIMUM_CHANGES)
      {
        changes_.pop_front();
      }
    }

    inForce_ = std::move(after);
  }
}
