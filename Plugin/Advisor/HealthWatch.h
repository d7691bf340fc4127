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
    // Returns what is wrong; empty: nothing. May hang, and throw std::bad_alloc.
    using Check = std::function<std::string()>;

    // Runs a function on another thread, and returns at once; may throw std::exception
    using Post = std::function<void(std::function<void()>)>;

    // What an image has to have to be stored: "Database"
    struct Part
    {
      std::string name;
      Duration period;                   // how long a good answer is believed
      std::function<Check()> findCheck;  // returns an empty one if nothing is to be checked now
      Post post;
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

  // Checks that a disk has 16 MiB left, and writes, syncs and removes a file of 4 KiB. The file has
  // no name if the file system supports that (O_TMPFILE, open(2)). Otherwise, as on NFS, it is
  // ".orthanc-perf-" and six characters for a moment. Returns the kernel's error, such as "No space
  // left on device"; empty: an image could be written.
  std::string TryToStore(const std::string& folder);
}
