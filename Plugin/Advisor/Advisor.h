// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/EvidenceCollector.h"
#include "Advisor/Rule.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  // Whatever the advisor has to ask for, because it is neither traffic that is over nor
  // tuning. All on the thread that asks for advice; may throw std::exception.
  class IAdvisorSources
  {
  public:
    virtual ~IAdvisorSources() = default;

    virtual ServerFacts GetFacts() = 0;

    virtual std::vector<StuckInstance> ListStuck()
    {
      return {};
    }

    virtual std::vector<EngineVerdict> GetEngines()
    {
      return {};
    }
  };


  // Puts all evidence before all rules, and keeps when each finding was there. Owned by the
  // plugin's context; any thread may call it.
  class Advisor
  {
  public:
    using WallNow = std::function<std::chrono::system_clock::time_point()>;
    using GetTuning = std::function<std::shared_ptr<const Tuning>()>;

    // Collector and sources outlive the advisor
    Advisor(EvidenceCollector& collector, IAdvisorSources& sources, GetTuning getTuning,
            std::vector<Rule> rules, WallNow now = &std::chrono::system_clock::now);

    // All findings as of now, the most costly first. Once per identifier and peer.
    std::vector<Finding> Advise();

    // The findings of the last time, counted by identifier
    std::map<std::string, std::size_t> CountFindings() const;

    // What Advise found in the last day, and what it found last: the latest to begin first, at most
    // MAXIMUM_RECORDS
    std::vector<FindingRecord> GetHistory() const;

    static constexpr std::size_t MAXIMUM_RECORDS = 500;

  private:
    using Key = std::pair<std::string, std::string>;  // identifier and peer

    Evidence GatherEvidence();
    void Remember(std::vector<Finding>& findings);
    void Forget(std::int64_t before);

    EvidenceCollector& collector_;
    IAdvisorSources& sources_;
    const GetTuning getTuning_;
    const std::vector<Rule> rules_;
    const WallNow now_;
    mutable std::mutex mutex_;
    std::map<Key, FindingRecord> present_;
    std::deque<FindingRecord> past_;  // in the order of their ends
  };
}
