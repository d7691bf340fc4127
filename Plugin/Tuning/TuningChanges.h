// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Tuning/TuningDocument.h"

#include <json/value.h>

#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Who asked for a change of the tuning. A value; all texts are printable and bounded.
  struct TuningAuthor
  {
    std::string user;     // that the request names; empty: none
    std::string address;  // that reached Orthanc; empty: a request from inside Orthanc

    // "by the user "alice" from 10.0.0.5"
    std::string Describe() const
    {
      return address.empty()
                 ? "from inside Orthanc, by a script or another plugin"
                 : (user.empty() ? "by " : "by the user \"" + user + "\" from ") + address;
    }
  };


  // That the tuning was changed
  struct TuningChange
  {
    std::chrono::system_clock::time_point time;
    Json::Value change;  // a merge patch (RFC 7396): what was not in force before
    Json::Value undo;    // the patch that brings it back; without "Preset", which follows from it
    TuningAuthor author;
  };

  // When the tuning was changed, to what and by whom: each change is a line of the log, and is kept
  // so that charts can show what came of it. Owned by the plugin's context; any thread may call it.
  // The latest 200 changes are kept, some 4 kB each.
  class TuningChanges
  {
  public:
    using Log = std::function<void(const std::string& line)>;
    using WallNow = std::function<std::chrono::system_clock::time_point()>;

    static constexpr std::size_t MAXIMUM_CHANGES = 200;

    explicit TuningChanges(Log log, WallNow now = &std::chrono::system_clock::now);

    // That this is in force instead of that; where both are the same, nothing is noted
    void Note(const Tuning& before, const Tuning& after, const TuningAuthor& author);

    // Those at "since" or later, the oldest first
    std::vector<TuningChange> GetSince(std::chrono::system_clock::time_point since) const;

  private:
    const Log log_;
    const WallNow now_;
    mutable std::mutex mutex_;
    std::deque<TuningChange> changes_;
  };
}
