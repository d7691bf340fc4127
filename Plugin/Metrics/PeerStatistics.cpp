// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/PeerStatistics.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t RATE_SLOTS = 20;
    constexpr Duration RATE_SLOT_LENGTH = std::chrono::seconds(3);  // a minute in all

    void AddTo(PeerTraffic& traffic, const FinishedInstance& instance)
    {
      traffic.instances++;
      traffic.bytes += instance.size;
      traffic.outcomes[static_cast<std::size_t>(instance.outcome)]++;
      traffic.phases.Add(instance.phases);
      traffic.stalls += instance.stalls;
      traffic.stallTime += instance.stallTime;
    }
  }

  PeerStatistics::PeerStatistics(PeerDirectory& directory, Now now) :
    directory_(directory),
    now_(std::move(now)),
    start_(now_()),
    records_(directory.GetCapacity())
  {
  }

  void PeerStatistics::OnInstanceFinished(const FinishedInstance& instance) noexcept
  {
    try
    {
      Count(instance);
    }
    catch (const std::exception&)
    {
      // Out of memory for a new peer: one instance uncounted is better than Orthanc down
    }
  }

  std::vector<PeerSummary> PeerStatistics::Summarize() const
  {
    const TimePoint now = now_();
    std::vector<PeerSummary> summaries;
    const std::lock_guard lock(mutex_);

    for (PeerIndex place = 0; place < records_.size(); place++)
    {
      if (records_[place])
      {
        summaries.push_back(records_[place]->Summarize(now));
        summaries.back().name = directory_.GetName(place);
      }
    }

    return summaries;
  }

  void PeerStatistics::Count(const FinishedInstance& instance)
  {
    const std::optional<PeerIndex> place = directory_.Resolve(instance.peer.name);

    if (!place)
    {
      return;
    }

    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Record>& record = records_.at(*place);

    if (!record)
    {
      record = std::make_unique<Record>(start_);
      record->totals.firstSeen = instance.finishedAt;
      record->totals.lastSeen = instance.finishedAt;
    }

    record->Add(instance, now);
  }

  PeerStatistics::Record::Record(TimePoint start) :
    rates{{{RATE_SLOT_LENGTH, RATE_SLOTS, start}, {RATE_SLOT_LENGTH, RATE_SLOTS, start}}}
  {
  }

  void PeerStatistics::Record::Add(const FinishedInstance& instance, TimePoint now)
  {
    const auto direction = static_cast<std::size_t>(instance.direction);
    AddTo(totals.directions[direction], instance);
    totals.lastSeen = std::max(totals.lastSeen, instance.finishedAt);

    Rate& rate = rates[direction].At(now);
    rate.instances++;
    rate.bytes += instance.size;

    if (!instance.peer.address.empty())
    {
      totals.address.assign(instance.peer.address, 0, MAXIMUM_PEER_NAME);
    }
  }

  PeerSummary PeerStatistics::Record::Summarize(TimePoint now) const
  {
    PeerSummary summary = totals;

    for (std::size_t i = 0; i < DIRECTION_COUNT; i++)
    {
      Rate sum;
      rates[i].ForEach(now,
                       [&sum](const Rate& rate)
                       {
                         sum.instances += rate.instances;
                         sum.bytes += rate.bytes;
                       });

      const double seconds = ToSeconds(rates[i].GetCovered(now));
      summary.directions[i].instancesPerSecond = static_cast<double>(sum.instances) / seconds;
      summary.directions[i].bytesPerSecond = static_cast<double>(sum.bytes) / seconds;
    }

    return summary;
  }
}
