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

    bool IsOf(const FindingRecord& record, const Finding& finding)
    {
      return record.id == finding.id && record.peer == finding.peer;
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

    for (const FindingRecord& record : records_)
    {
      if (!record.end)
      {
        counts[record.id]++;
      }
    }

    return counts;
  }

  std::vector<FindingRecord> Advisor::GetHistory() const
  {
    const std::lock_guard lock(mutex_);
    const std::size_t count = std::min(records_.size(), MAXIMUM_RECORDS);
    return {records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  void Advisor::Remember(std::vector<Finding>& findings)
  {
    using std::chrono::seconds;

    const std::int64_t now = std::chrono::duration_cast<seconds>(now_().time_since_epoch()).count();
    const std::lock_guard lock(mutex_);

    for (FindingRecord& record : records_)
    {
      const bool isThere =
          std::any_of(findings.begin(), findings.end(),
                      [&record](const Finding& finding) { return IsOf(record, finding); });
      record.end = record.end || isThere ? record.end : now;
    }

    for (Finding& finding : findings)
    {
      const auto known = std::find_if(records_.begin(), records_.end(),
                                      [&finding](const FindingRecord& record)
                                      { return !record.end && IsOf(record, finding); });

      if (known == records_.end())
      {
        finding.since = now;
        records_.push_front({finding.id, finding.peer, finding.title, now, std::nullopt});
      }
      else
      {
        finding.since = known->begin;
        known->title = finding.title;
      }
    }

    for (auto record = records_.end(); record != records_.begin();)
    {
      --record;
      const bool isTooMany = records_.size() > MAXIMUM_RECORDS;
      record =
          record->end && (isTooMany || *record->end < now - DAY) ? records_.erase(record) : record;
    }
  }
}
