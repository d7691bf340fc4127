// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/PeerStatistics.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    void UpdateAddress(PeerSummary& peer, const std::string& address)
    {
      if (!address.empty())
      {
        peer.address.assign(address, 0, MAXIMUM_PEER_NAME);
      }
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
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);
    GetRecord(Find(instance.peer, PeerSign::Instance)).Add(instance, now);
  }

  void PeerStatistics::OnAssociationFinished(const FinishedAssociation& association)
  {
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);
    GetRecord(Find(association.peer, GetSign(association.isAccepted))).Add(association, now);
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
    const Moment now = {now_(), wallNow_()};
    Summaries summaries = SummarizeFinished(now);

    if (listOpen_)
    {
      AddOpen(summaries, now);
    }

    std::vector<PeerSummary> list;
    list.reserve(summaries.size());

    for (auto& [place, summary] : summaries)
    {
      const bool isKnown = place.index < directory_.GetCapacity();

      if (const auto name = isKnown ? directory_.FindName(place) : "")
      {
        summary.name = *name;
        list.push_back(std::move(summary));
      }
    }

    return list;
  }

  PeerPlace PeerStatistics::Find(const Peer& peer, PeerSign sign) const
  {
    return directory_.Resolve(peer.name, sign).value_or(PeerPlace{directory_.GetCapacity(), 0});
  }

  PeerStatistics::Record& PeerStatistics::GetRecord(const PeerPlace& place)
  {
    std::unique_ptr<Record>& record = records_.at(place.index);

    if (!record || !(record->place == place))
    {
      record = std::make_unique<Record>(place, start_);
    }

    return *record;
  }

  PeerStatistics::Summaries PeerStatistics::SummarizeFinished(const Moment& now) const
  {
    Summaries summaries;
    const std::lock_guard lock(mutex_);

    for (const std::unique_ptr<Record>& record : records_)
    {
      if (record)
      {
        summaries.emplace(record->place, record->Summarize(now));
      }
    }

    return summaries;
  }

  void PeerStatistics::AddOpen(Summaries& summaries, const Moment& now) const
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

    for (const OpenAssociation& association : open)
    {
      const auto [found, isNew] =
          summaries.try_emplace(Find(association.peer, GetSign(association.isAccepted)));
      PeerSummary& summary = found->second;
      const WallTime begin = now.GetDate(now.time - association.age);
      summary.firstSeen = isNew ? begin : std::min(summary.firstSeen, begin);
      summary.lastSeen = now.date;
      UpdateAddress(summary, association.peer.address);
      summary.associations.at(static_cast<std::size_t>(association.direction)).Add(association);
    }
  }

  PeerStatistics::Record::Record(PeerPlace place, TimePoint start) :
    place(place),
    rates{{{SLOT_LENGTH, SLOTS_OF_A_MINUTE, start}, {SLOT_LENGTH, SLOTS_OF_A_MINUTE, start}}}
  {
  }

  void PeerStatistics::Record::Add(const FinishedInstance& instance, TimePoint now)
  {
    const auto direction = static_cast<std::size_t>(instance.direction);
    totals.directions[direction].Add(instance);
    See(instance.endedAt, instance.endedAt);
    UpdateAddress(totals, instance.peer.address);

    Rate& rate = rates[direction].At(now);
    rate.instances++;
    rate.bytes += instance.size;
  }

  void PeerStatistics::Record::Add(const FinishedAssociation& association, TimePoint now)
  {
    See(now - association.length, now);
    UpdateAddress(totals, association.peer.address);
    totals.associations.at(static_cast<std::size_t>(association.direction)).Add(association);
  }

  void PeerStatistics::Record::See(TimePoint from, TimePoint to)
  {
    lastSeen = firstSeen ? std::max(lastSeen, to) : to;
    firstSeen = std::min(firstSeen.value_or(from), from);
  }

  PeerSummary PeerStatistics::Record::Summarize(const Moment& now) const
  {
    PeerSummary summary = totals;
    summary.firstSeen = now.GetDate(firstSeen.value_or(now.time));
    summary.lastSeen = now.GetDate(lastSeen);

    for (std::size_t i = 0; i < DIRECTION_COUNT; i++)
    {
      Traffic sum;
      rates[i].ForEach(now.time, SLOTS_OF_A_MINUTE,
                       [&sum](const Rate& rate)
                       {
                         sum.instances += rate.instances;
                         sum.bytes += rate.bytes;
                       });

      sum.SetRates(rates[i].GetCovered(now.time, SLOTS_OF_A_MINUTE));
      summary.directions[i].instancesPerSecond = sum.instancesPerSecond;
      summary.directions[i].bytesPerSecond = sum.bytesPerSecond;
    }

    return summary;
  }
}
