// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Whether this server can store, for a load balancer: asks the database and the disk, and says
  // what they last answered. They are asked only while somebody looks, by threads of its own, so
  // that whoever looks is answered at once though they hang.
  //
  // Owned by the plugin's context; any thread may call it but for AskNext.
  class HealthWatch
  {
  public:
    // What an image has to have to be stored: "Database"
    struct Part
    {
      std::string name;
      Duration period;                   // that nothing is wrong is believed for so long
      std::function<std::string()> ask;  // empty, or what is wrong; may throw, and take long
    };

    struct Problem
    {
      std::string part;
      std::string text;
    };

    // Who has not answered for so long does not: a database or a disk may be busy for some seconds,
    // and a modality waits for 30 s or more
    static constexpr std::chrono::seconds LONGEST{15};

    explicit HealthWatch(const std::vector<Part>& parts, Duration longest = LONGEST);

    // What is wrong. Has asked whom it is time to ask, and waits for the answers for so long at
    // most. What was never answered is a problem, too, and what was so long ago that it is no
    // longer believed, where nobody has looked since.
    std::vector<Problem> Look(Duration patience);

    // Asks the next one, for which it waits so long at most. By as many threads as there are parts:
    // one that hangs is no reason not to ask the others.
    void AskNext(Duration patience);

    std::size_t CountParts() const noexcept
    {
      return states_.size();
    }

  private:
    struct State
    {
      Part part;
      bool isWanted = false;
      std::optional<TimePoint> askedAt;  // and not answered yet
      std::optional<TimePoint> answeredAt;
      std::string problem;  // by the latest answer
    };

    static bool IsDue(const State& state, TimePoint now);
    std::string FindProblem(const State& state, TimePoint now) const;
    State* FindWanted();
    bool IsAnswered() const;

    const Duration longest_;
    std::mutex mutex_;
    std::condition_variable wanted_;
    std::condition_variable answered_;
    std::vector<State> states_;  // as many as there are parts, always
  };
}
