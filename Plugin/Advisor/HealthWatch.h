// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Whether this server can store, for a load balancer: asks the database and the disks, and
  // reports what they last answered. They are asked only while somebody looks, each on another
  // thread, so that Look answers at once though they hang.
  //
  // A part that is merely slow is no problem. It becomes one if it has no recent answer and two
  // looks in a row waited for it in vain, or if it is silent for "longest".
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

    struct Health
    {
      std::map<std::string, std::string> problems;  // by part: what is wrong
      std::vector<std::string> waiting;             // parts that were asked and have yet to answer
    };

    // Who has not answered for so long does not: a database or a disk may be busy for some seconds,
    // and a modality waits for 30 s or more
    static constexpr std::chrono::seconds LONGEST{15};

    explicit HealthWatch(const std::vector<Part>& parts, Duration longest = LONGEST);

    // Asks each part whose answer is no longer fresh, once at a time, and waits for the answers for
    // so long at most.
    Health Look(Duration patience);

  private:
    struct State;
    struct States;

    void Ask(State& state);

    const Duration longest_;
    const std::shared_ptr<States> states_;  // shared with those who are to answer
  };
}
