// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Whether this server can store, for a load balancer: asks the database and the disks, and
  // reports what they last answered. They are asked only while somebody looks, each on another
  // thread, so that Look answers at once though they hang.
  //
  // Owned by the plugin's context; any thread may call it. Answers may come when it is gone.
  class HealthWatch
  {
  public:
    // To be called once, on any thread, with an empty text or what is wrong
    using Answer = std::function<void(const std::string&)>;

    // What an image has to have to be stored: "Database"
    struct Part
    {
      std::string name;
      Duration period;                         // that nothing is wrong is believed for so long
      std::function<void(const Answer&)> ask;  // returns at once; may throw std::exception
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

    // What is wrong. Has asked whom it is time to ask, each once at a time, and waits for the
    // answers for so long at most. What was never answered is a problem, too, and what was so long
    // ago that it is no longer believed, where nobody has looked since.
    std::vector<Problem> Look(Duration patience);

  private:
    struct State;
    struct States;

    void Ask(State& state);
    std::string FindProblem(const State& state, TimePoint now) const;

    const Duration longest_;
    const std::shared_ptr<States> states_;  // shared with those who are to answer
  };
}
