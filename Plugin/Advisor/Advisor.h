// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Evidence.h"
#include "Advisor/Rule.h"

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Puts all evidence before all rules, and keeps when each finding was there. Owned by the
  // plugin's context; any thread may call it.
  class Advisor
  {
  public:
    using WallNow = std::function<std::chrono::system_clock::time_point()>;

    // All evidence as of now, on the thread that asks for advice; may throw std::exception
    using Gather = std::function<Evidence()>;

    Advisor(Gather gather, std::vector<Rule> rules, WallNow now = &std::chrono::system_clock::now);

    // All findings as of now, the most costly first. Once per identifier and peer.
    std::vector<Finding> Advise();

    std::map<std::string, std::size_t> CountFindings() const;

    // What Advise found in the last day, and what it found last: the latest to begin first, at most
    // MAXIMUM_RECORDS
    std::vector<FindingRecord> GetHistory() const;

    static constexpr std::size_t MAXIMUM_RECORDS = 500;

  private:
    void Remember(std::vector<Finding>& findings);

    const Gather gather_;
    const std::vector<Rule> rules_;
    const WallNow now_;
    mutable std::mutex mutex_;
    std::deque<FindingRecord> records_;  // the latest to begin first
  };
}
