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

    // Seen from the one moment to the other
    void See(PeerSummary& peer, PeerStatistics::WallTime from, PeerStatistics::WallTime to)
    {
      const bool isNew = peer.lastSeen == PeerStatistics::WallTime();
      peer.firstSeen = isNew ? from : std::min(peer.firstSeen, from);
      peer.lastSeen = std::max(peer.lastSeen, to);
    }

    void UpdateAddress(PeerSummary& peer, const std::string& address)
    {
      if (!address.empty())
      {
        peer.address.assign(address, 0, MAXIMUM_PEER_NAME);
      }
    }

    PeerStatistics::WallTime GetBegin(PeerStatistics::WallTime end, Duration length)
    {
      return end - std::chrono::duration_cast<PeerStatistics::WallTime::duration>(length);
    }
  }

  PeerStatistics::PeerStatistics(PeerDirectory& directory, ListOpenAssociations listOpen, Now now,
                                 WallNow wallNow) :
    directory_(directory),
    listOpen_(std::move(listOpen)),
    now_(std::move(now)),
    wallNow_(std::move(wallNow)),
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

  void PeerStatistics::OnAssociationFinished(const FinishedAssociation& association) noexcept
  {
    try
    {
      Count(association);
    }
    catch (const std::exception&)
    {
      // Likewise
    }
  }

  std::vector<PeerSummary> PeerStatistics::Summarize() const
  {
    Summaries summaries = SummarizeFinished();

    if (listOpen_)
    {
      AddOpen(summaries);
    }

    std::vector<PeerSummary> list;
    list.reserve(summaries.size());

    for (auto& [place, summary] : summaries)
    {
      summary.name = directory_.GetName(place);
      list.push_back(std::move(summary));
    }

    return list;
  }

  void PeerStatistics::Count(const FinishedInstance& instance)
  {
    if (const std::optional<PeerIndex> place = directory_.Resolve(instance.peer.name))
    {
      const TimePoint now = now_();
      const std::lock_guard lock(mutex_);
      GetRecord(*place).Add(instance, now);
    }
  }

  void PeerStatistics::Count(const FinishedAssociation& association)
  {
    if (const std::optional<PeerIndex> place = directory_.Resolve(association.peer.name))
    {
      const WallTime now = wallNow_();
      const std::lock_guard lock(mutex_);
      GetRecord(*place).Add(association, now);
    }
  }

  PeerStatistics::Record& PeerStatistics::GetRecord(PeerIndex place)
  {
    std::unique_ptr<Record>& record = records_.at(place);

    if (!record)
    {
      record = std::make_unique<Record>(start_);
    }

    return *record;
  }

  PeerStatistics::Summaries PeerStatistics::SummarizeFinished() const
  {
    const TimePoint now = now_();
    Summaries summaries;
    const std::lock_guard lock(mutex_);

    for (PeerIndex place = 0; place < records_.size(); place++)
    {
      if (records_[place])
      {
        summaries.emplace(place, records_[place]->Summarize(now));
      }
    }

    return summaries;
  }

  void PeerStatistics::AddOpen(Summaries& summaries) const
  {
    for (auto& [place, summary] : summaries)
    {
      for (PeerAssociations& associations : summary.associations)
      {
        associations.open = 0;
      }
    }

    std::vector<OpenAssociation> open = listOpen_();
    std::stable_sort(open.begin(), open.end(),
                     [](const auto& a, const auto& b) { return a.age > b.age; });
    const WallTime now = wallNow_();

    for (const OpenAssociation& association : open)
    {
      if (const std::optional<PeerIndex> place = directory_.Resolve(association.peer.name))
      {
        PeerSummary& summary = summaries[*place];
        See(summary, GetBegin(now, association.age), now);
        UpdateAddress(summary, association.peer.address);
        summary.associations.at(static_cast<std::size_t>(association.direction)).Add(association);
      }
    }
  }

  PeerStatistics::Record::Record(TimePoint start) :
    rates{{{RATE_SLOT_LENGTH, RATE_SLOTS, start}, {RATE_SLOT_LENGTH, RATE_SLOTS, start}}}
  {
  }

  void PeerStatistics::Record::Add(const FinishedInstance& instance, TimePoint now)
  {
    const auto direction = static_cast<std::size_t>(instance.direction);
    AddTo(totals.directions[direction], instance);
    See(totals, instance.finishedAt, instance.finishedAt);
    UpdateAddress(totals, instance.peer.address);

    Rate& rate = rates[direction].At(now);
    rate.instances++;
    rate.bytes += instance.size;
  }

  void PeerStatistics::Record::Add(const FinishedAssociation& association, WallTime now)
  {
    See(totals, GetBegin(now, association.length), now);
    UpdateAddress(totals, association.peer.address);
    totals.associations.at(static_cast<std::size_t>(association.direction)).Add(association);
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
