// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Tuning/TuningStore.h"

#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

namespace OrthancPerf
{
  // That the tuning was changed
  struct TuningChange
  {
    std::chrono::system_clock::time_point time;
    Json::Value change;  // a merge patch (RFC 7396): what was not in force before
    Json::Value undo;    // the patch that brings it back; without "Preset", which follows from it
  };

  // When the tuning was changed, and to what, so that charts can show what came of it. Owned by
  // the plugin's context; any thread may call it. The latest 200 changes are kept, some 4 kB each.
  class TuningChanges : public ITuningObserver
  {
  public:
    using WallNow = std::function<std::chrono::system_clock::time_point()>;

    static constexpr std::size_t MAXIMUM_CHANGES = 200;

    explicit TuningChanges(WallNow now = &std::chrono::system_clock::now);

    // The first call says with what the plugin begins, and is no change
    void OnTuningChanged(const Tuning& tuning) noexcept override;

    // Those at "since" or later, the oldest first
    std::vector<TuningChange> GetSince(std::chrono::system_clock::time_point since) const;

  private:
    void Note(const Tuning& tuning);

    const WallNow now_;
    mutable std::mutex mutex_;
    Json::Value inForce_;  // null before the first call
    std::deque<TuningChange> changes_;
  };
}
