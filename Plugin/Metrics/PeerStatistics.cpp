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


    std::optional<std::uint32_t> GetLarger(const std::optional<std::uint32_t>& a,
                                           const std::optional<std::uint32_t>& b)
    {
      return a && b ? std::max(*a, *b) : (a ? a : b);
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

  void PeerStatistics::Look(const std::vector<OpenAssociation>& open)
  {
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);

    for (const OpenAssociation& association : open)
    {
      Record& record = GetRecord(Find(association.peer, GetSign(association.isAccepted)));
      Recent& recent = record.recent.at(static_cast<std::size_t>(association.direction));
      recent.Update(association.parties);

      if (association.tcp)
      {
        recent.Update(*association.tcp, now);
      }
    }
  }

  void PeerStatistics::Restart() noexcept
  {
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);

    for (const std::unique_ptr<Record>& record : records_)
    {
      for (std::size_t i = 0; record && i < DIRECTION_COUNT; i++)
      {
        Recent& recent = record->recent[i];
        recent.traffic.Restart(now);
        recent.tcp.reset();
        recent.windows.Clear(TimePoint());
      }
    }
  }

  std::vector<PeerEvidence> PeerStatistics::GatherEvidence() const
  {
    const TimePoint now = now_();
    std::vector<PeerEvidence> evidence;
    const std::lock_guard lock(mutex_);

    for (const std::unique_ptr<Record>& record : records_)
    {
      const std::optional<std::string> name =
          record && record->place.index < directory_.GetCapacity()
              ? directory_.FindName(record->place)
              : std::nullopt;

      for (const Direction direction : GetAllDirections())
      {
        if (name)
        {
          const Recent& recent = record->recent.at(static_cast<std::size_t>(direction));
          const bool isSetupOld = now - recent.latestSetup > LatestTraffic::MAXIMUM_AGE;
          const bool isFailureOld = now - recent.latestFailure > LatestTraffic::MAXIMUM_AGE;
          evidence.push_back({*name, direction, recent.traffic.GetEvidence(now),
                              isSetupOld ? std::vector<Duration>() : recent.setups, recent.parties,
                              recent.tcp, isFailureOld ? FailedAssociations() : recent.failed});
        }
      }
    }

    return evidence;
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
      if (record && record->firstSeen)
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
    recent{Recent(start), Recent(start)}
  {
  }

  void PeerStatistics::Record::Add(const FinishedInstance& instance, TimePoint now)
  {
    const auto direction = static_cast<std::size_t>(instance.direction);
    totals.directions[direction].Add(instance);
    See(instance.endedAt, instance.endedAt);
    UpdateAddress(totals, instance.peer.address);
    recent[direction].traffic.Add(instance, now);
  }

  void PeerStatistics::Record::Add(const FinishedAssociation& association, TimePoint now)
  {
    See(now - association.length, now);
    UpdateAddress(totals, association.peer.address);
    const auto direction = static_cast<std::size_t>(association.direction);
    totals.associations.at(direction).Add(association);
    Recent& latest = recent.at(direction);
    latest.Update(association.parties);
    latest.CountFailure(association, now);

    if (association.setup)
    {
      latest.AddSetup(*association.setup, now);
    }

    if (association.tcp && association.instances > 0)
    {
      latest.Update(*association.tcp, now);
    }
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
      summary.rates[i] = recent[i].traffic.GetRates(now.time);
    }

    return summary;
  }

  void PeerStatistics::Recent::AddSetup(Duration setup, TimePoint now)
  {
    if (now - latestSetup > LatestTraffic::MAXIMUM_AGE)
    {
      setups.clear();
    }

    if (setups.size() == SETUPS_KEPT)
    {
      setups.erase(setups.begin());
    }

    setups.push_back(setup);
    latestSetup = now;
  }

  void PeerStatistics::Recent::CountFailure(const FinishedAssociation& association, TimePoint now)
  {
    if (association.setup && association.outcome != AssociationOutcome::Rejected)
    {
      failed = FailedAssociations();
    }
    else
    {
      failed = {failed.count + 1, association.outcome, association.rejection};
      latestFailure = now;
    }
  }

  void PeerStatistics::Recent::Update(const AssociationParties& latest)
  {
    if (!latest.callingTitle.empty())
    {
      parties = latest;
    }
  }

  // A window is small at the begin of a connection and when its data waits to be read. What a peer
  // has set anew shows once its earlier connections are old.
  void PeerStatistics::Recent::Update(const TcpSummary& latest, TimePoint now)
  {
    LargestWindows& newest = windows.At(now);
    newest.send = GetLarger(newest.send, latest.sendWindow);
    newest.receive = GetLarger(newest.receive, latest.receiveWindow);
    tcp = latest;
    windows.ForEach(windows.GetBegin(now, WINDOW_SLOTS),
                    [this](const LargestWindows& largest, TimePoint)
                    {
                      tcp->sendWindow = GetLarger(tcp->sendWindow, largest.send);
                      tcp->receiveWindow = GetLarger(tcp->receiveWindow, largest.receive);
                    });
  }
}
