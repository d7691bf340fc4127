// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Advisor.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::int64_t DAY = 86400;  // seconds

    // The most costly first; among equals by name, so that the order is stable
    bool ComesBefore(const Finding& a, const Finding& b)
    {
      return std::make_tuple(-a.cost.shareOfIngestTime, std::cref(a.id), std::cref(a.peer)) <
             std::make_tuple(-b.cost.shareOfIngestTime, std::cref(b.id), std::cref(b.peer));
    }
  }


  Advisor::Advisor(Gather gather, std::vector<Rule> rules, WallNow now) :
    gather_(std::move(gather)),
    rules_(std::move(rules)),
    now_(std::move(now))
  {
  }


  std::vector<Finding> Advisor::Advise()
  {
    const Evidence evidence = gather_();
    std::vector<Finding> findings;

    for (const Rule& rule : rules_)
    {
      std::vector<Finding> found = rule.Judge(evidence);
      std::move(found.begin(), found.end(), std::back_inserter(findings));
    }

    std::sort(findings.begin(), findings.end(), ComesBefore);
    Remember(findings);
    return findings;
  }


  std::map<std::string, std::size_t> Advisor::CountFindings() const
  {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::size_t> counts;

    for (const auto& [key, record] : present_)
    {
      counts[key.first]++;
    }

    return counts;
  }


  std::vector<FindingRecord> Advisor::GetHistory() const
  {
    std::vector<FindingRecord> history;

    {
      const std::lock_guard lock(mutex_);

      for (const auto& [key, record] : present_)
      {
        history.push_back(record);
      }

      const std::size_t room = MAXIMUM_RECORDS - std::min(history.size(), MAXIMUM_RECORDS);
      const std::size_t count = std::min(past_.size(), room);
      history.insert(history.end(), past_.end() - static_cast<std::ptrdiff_t>(count), past_.end());
    }

    std::stable_sort(history.begin(), history.end(),
                     [](const FindingRecord& a, const FindingRecord& b)
                     { return a.begin > b.begin; });
    history.resize(std::min(history.size(), MAXIMUM_RECORDS));
    return history;
  }


  void Advisor::Remember(std::vector<Finding>& findings)
  {
    using std::chrono::seconds;

    const std::int64_t now = std::chrono::duration_cast<seconds>(now_().time_since_epoch()).count();
    std::map<Key, FindingRecord> present;
    const std::lock_guard lock(mutex_);

    for (Finding& finding : findings)
    {
      const auto known = present_.find({finding.id, finding.peer});
      finding.since = known == present_.end() ? now : known->second.begin;
      present[{finding.id, finding.peer}] = {finding.id, finding.peer, finding.title, finding.since,
                                             std::nullopt};
    }

    for (auto& [key, record] : present_)
    {
      if (present.count(key) == 0)
      {
        past_.push_back(std::move(record));
        past_.back().end = now;
      }
    }

    present_ = std::move(present);

    while (!past_.empty() && (past_.size() > MAXIMUM_RECORDS || *past_.front().end < now - DAY))
    {
      past_.pop_front();
    }
  }
}
