// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningChanges.h"

#include "Tuning/Json.h"
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


  TuningChanges::TuningChanges(Log log, WallNow now) : log_(std::move(log)), now_(std::move(now))
  {
  }


  void TuningChanges::Note(const Tuning& before, const Tuning& after, const TuningAuthor& author)
  {
    const Json::Value old = ToJson(before);
    const Json::Value change = DiffJson(old, ToJson(after));

    if (change.empty())
    {
      return;
    }

    log_("the tuning was changed " + author.Describe() + ": " + ToText(change));

    const std::lock_guard lock(mutex_);
    changes_.push_back({now_(), change, MakeUndo(old, ToJson(after)), author});

    if (changes_.size() > MAXIMUM_CHANGES)
    {
      changes_.pop_front();
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
}
