// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/PeerStatistics.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t RATE_SLOTS = 20;
    constexpr Duration RATE_SLOT_LENGTH = std::chrono::seconds(3);  // a minute in all

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
    records_(directory.GetCapacity() + 1)
  {
  }

  void PeerStatistics::OnInstanceFinished(const FinishedInstance& instance)
  {
    const PeerIndex place = Find(instance.peer);
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);
    GetRecord(place).Add(instance, now);
  }

  void PeerStatistics::OnAssociationFinished(const FinishedAssociation& association)
  {
    const PeerIndex place = Find(association.peer);
    const WallTime now = wallNow_();
    const std::lock_guard lock(mutex_);
    GetRecord(place).Add(association, now);
  }

  std::vector<PeerSummary> PeerStatistics::Summarize() const
  {
    std::vector<PeerSummary> list = SummarizeAll();

    if (!list.empty() && list.back().name.empty())
    {
      list.pop_back();
    }

    return list;
  }

  std::vector<PeerSummary> PeerStatistics::SummarizeAll() const
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
      summary.name = place < directory_.GetCapacity() ? directory_.GetName(place) : "";
      list.push_back(std::move(summary));
    }

    return list;
  }

  PeerIndex PeerStatistics::Find(const Peer& peer) const
  {
    return directory_.Resolve(peer.name).value_or(directory_.GetCapacity());
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
      PeerSummary& summary = summaries[Find(association.peer)];
      See(summary, GetBegin(now, association.age), now);
      UpdateAddress(summary, association.peer.address);
      summary.associations.at(static_cast<std::size_t>(association.direction)).Add(association);
    }
  }

  PeerStatistics::Record::Record(TimePoint start) :
    rates{{{RATE_SLOT_LENGTH, RATE_SLOTS, start}, {RATE_SLOT_LENGTH, RATE_SLOTS, start}}}
  {
  }

  void PeerStatistics::Record::Add(const FinishedInstance& instance, TimePoint now)
  {
    const auto direction = static_cast<std::size_t>(instance.direction);
    totals.directions[direction].Add(instance);
    totals.directions[direction].phases.Add(instance.phases);
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
      Traffic sum;
      rates[i].ForEach(now,
                       [&sum](const Rate& rate)
                       {
                         sum.instances += rate.instances;
                         sum.bytes += rate.bytes;
                       });

      sum.SetRates(rates[i].GetCovered(now));
      summary.directions[i].instancesPerSecond = sum.instancesPerSecond;
      summary.directions[i].bytesPerSecond = sum.bytesPerSecond;
    }

    return summary;
  }
}
