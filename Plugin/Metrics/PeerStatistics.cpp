// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/PeerStatistics.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // What the peers without a place of their own are called together
    constexpr const char* OTHER_PEERS = "other";


    void UpdateAddress(PeerSummary& peer, const std::string& address)
    {
      if (!address.empty())
      {
        peer.address.assign(address, 0, MAXIMUM_PEER_NAME);
      }
    }
  }


  PeerStatistics::PeerStatistics(std::size_t maximumPeers, ListOpenAssociations listOpen, Now now) :
    maximumPeers_(maximumPeers),
    listOpen_(std::move(listOpen)),
    now_(std::move(now)),
    start_(now_())
  {
  }

  void PeerStatistics::SetModalities(const std::vector<std::string>& titles)
  {
    const std::lock_guard lock(mutex_);

    for (auto& [name, place] : places_)
    {
      place.isModality = false;
    }

    // The known ones first, so that no modality takes over the place of another one
    for (const bool mayAdd : {false, true})
    {
      for (const std::string& title : titles)
      {
        const std::string name = MakePrintable(title);
        const auto found = places_.find(name);
        Place* const place = found != places_.end() ? &found->second
                             : mayAdd               ? Add(name, Duration::min())
                                                    : nullptr;

        if (place != nullptr)
        {
          place->isModality = true;
        }
      }
    }
  }

  void PeerStatistics::OnInstanceFinished(const FinishedInstance& instance)
  {
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);
    Find(instance.peer, Sign::Instance).Add(instance, now);
  }

  void PeerStatistics::OnAssociationFinished(const FinishedAssociation& association)
  {
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);
    Find(association).Add(association, now);
  }

  void PeerStatistics::Look(const std::vector<OpenAssociation>& open)
  {
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);

    for (const OpenAssociation& association : open)
    {
      Recent& recent = Find(association).recent.at(static_cast<std::size_t>(association.direction));
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
    ForEachRecord(
        [now](const std::string&, Record& record)
        {
          for (Recent& recent : record.recent)
          {
            recent.traffic.Restart(now);
            recent.tcp.reset();
            recent.windows.Clear(TimePoint());
          }
        });
  }

  std::vector<PeerEvidence> PeerStatistics::GatherEvidence() const
  {
    const TimePoint now = now_();
    std::vector<PeerEvidence> evidence;
    const std::lock_guard lock(mutex_);
    ForEachRecord(
        [&](const std::string& name, const Record& record)
        {
          for (std::size_t i = 0; !name.empty() && i < DIRECTION_COUNT; i++)
          {
            const Recent& recent = record.recent[i];
            const bool isSetupOld = now - recent.latestSetup > LatestTraffic::MAXIMUM_AGE;
            const bool isFailureOld = now - recent.latestFailure > LatestTraffic::MAXIMUM_AGE;
            evidence.push_back(
                {name,
                 static_cast<Direction>(i),
                 recent.traffic.GetEvidence(now),
                 {recent.setups.begin(), isSetupOld ? recent.setups.begin() : recent.setups.end()},
                 recent.parties,
                 recent.tcp,
                 isFailureOld ? FailedAssociations() : recent.failed});
          }
        });
    return evidence;
  }

  std::vector<PeerSummary> PeerStatistics::Summarize()
  {
    std::vector<OpenAssociation> open = listOpen_ ? listOpen_() : std::vector<OpenAssociation>();
    std::stable_sort(open.begin(), open.end(),
                     [](const auto& a, const auto& b) { return a.age > b.age; });

    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);

    // Once all have their places, none is taken over any more
    for (const OpenAssociation& association : open)
    {
      Find(association);
    }

    std::multimap<const Record*, const OpenAssociation*> openOnes;

    for (const OpenAssociation& association : open)
    {
      openOnes.emplace(&Find(association.peer, Sign::Asked), &association);
    }

    std::vector<PeerSummary> list;
    ForEachRecord(
        [&](const std::string& name, const Record& record)
        {
          const auto [begin, end] = openOnes.equal_range(&record);

          if (record.totals.firstSeen != TimePoint::max() || begin != end)
          {
            PeerSummary& summary = list.emplace_back(record.Summarize(now));
            summary.name = name;

            for (PeerTraffic& traffic : summary.directions)
            {
              traffic.associations.open =
                  listOpen_ ? std::make_optional<std::uint64_t>(0) : std::nullopt;
            }

            for (auto association = begin; association != end; ++association)
            {
              AddOpen(summary, *association->second, now);
            }
          }
        });
    return list;
  }

  void PeerStatistics::AddOpen(PeerSummary& summary, const OpenAssociation& association,
                               TimePoint now)
  {
    summary.firstSeen = std::min(summary.firstSeen, now - association.age);
    summary.lastSeen = now;
    UpdateAddress(summary, association.peer.address);
    summary.directions.at(static_cast<std::size_t>(association.direction))
        .associations.Add(association);
  }

  PeerStatistics::Record& PeerStatistics::Find(const Peer& peer, Sign sign)
  {
    const std::string name = MakePrintable(peer.name);
    const auto known = places_.find(name);
    Place* place = known != places_.end() ? &known->second
                   : sign != Sign::Asked  ? Add(name, KEPT)
                                          : nullptr;

    if (place == nullptr)
    {
      place = name.empty() ? &unknown_ : &others_;
    }

    if (!place->record)
    {
      place->record = std::make_unique<Record>(start_);
    }

    if (sign == Sign::Instance)
    {
      place->lastInstance = now_();
    }

    return *place->record;
  }

  PeerStatistics::Record& PeerStatistics::Find(const Association& association)
  {
    return Find(association.peer, association.isAccepted ? Sign::Accepted : Sign::Asked);
  }

  // A free place, or that of an unlisted peer that was without an instance for so long; null: there
  // is none
  PeerStatistics::Place* PeerStatistics::Add(const std::string& name, Duration minimumIdle)
  {
    const TimePoint now = now_();

    if (name.empty() || name == OTHER_PEERS || maximumPeers_ == 0)
    {
      return nullptr;
    }

    if (places_.size() >= maximumPeers_)
    {
      const auto oldest =
          std::min_element(places_.begin(), places_.end(),
                           [](const auto& a, const auto& b)
                           {
                             return std::tie(a.second.isModality, a.second.lastInstance) <
                                    std::tie(b.second.isModality, b.second.lastInstance);
                           });

      if (oldest->second.isModality || now - oldest->second.lastInstance < minimumIdle)
      {
        return nullptr;
      }

      places_.erase(oldest);
    }

    Place& place = places_[name];
    place.lastInstance = now;
    return &place;
  }

  template <typename Visit>
  void PeerStatistics::ForEachRecord(const Visit& visit) const
  {
    const auto visitIfAny = [&visit](const std::string& name, const Place& place)
    {
      if (place.record)
      {
        visit(name, *place.record);
      }
    };

    for (const auto& [name, place] : places_)
    {
      visitIfAny(name, place);
    }

    visitIfAny(OTHER_PEERS, others_);
    visitIfAny("", unknown_);
  }

  void PeerStatistics::Record::Add(const FinishedInstance& instance, TimePoint now)
  {
    const auto direction = static_cast<std::size_t>(instance.direction);
    totals.directions[direction].Add(instance);
    See(instance.peer, instance.endedAt, instance.endedAt);
    recent[direction].traffic.Add(instance, now);
  }

  void PeerStatistics::Record::Add(const FinishedAssociation& association, TimePoint now)
  {
    See(association.peer, now - association.length, now);
    const auto direction = static_cast<std::size_t>(association.direction);
    totals.directions.at(direction).associations.Add(association);
    recent.at(direction).Add(association, now);
  }

  void PeerStatistics::Record::See(const Peer& peer, TimePoint from, TimePoint to)
  {
    totals.firstSeen = std::min(totals.firstSeen, from);
    totals.lastSeen = std::max(totals.lastSeen, to);
    UpdateAddress(totals, peer.address);
  }

  PeerSummary PeerStatistics::Record::Summarize(TimePoint now) const
  {
    PeerSummary summary = totals;

    for (std::size_t i = 0; i < DIRECTION_COUNT; i++)
    {
      summary.directions[i].rates = recent[i].traffic.GetRates(now);
    }

    return summary;
  }

  void PeerStatistics::Recent::Add(const FinishedAssociation& association, TimePoint now)
  {
    Update(association.parties);

    if (association.HasFailed())
    {
      failed = {failed.count + 1, association.outcome, association.rejection};
      latestFailure = now;
    }
    else
    {
      failed = FailedAssociations();
    }

    if (association.setup)
    {
      if (now - latestSetup > LatestTraffic::MAXIMUM_AGE)
      {
        setups.clear();
      }

      setups.push_back(*association.setup);
      latestSetup = now;
    }

    if (association.tcp && association.instances > 0)
    {
      Update(*association.tcp, now);
    }
  }

  void PeerStatistics::Recent::Update(const AssociationParties& latest)
  {
    parties = latest.callingTitle.empty() ? parties : latest;
  }

  // A window is small at the begin of a connection and when its data waits to be read. What a peer
  // has set anew shows once its earlier connections are old.
  void PeerStatistics::Recent::Update(const TcpSummary& latest, TimePoint now)
  {
    LargestWindows& newest = windows.At(now);
    newest.send = std::max(newest.send, latest.sendWindow);
    newest.receive = std::max(newest.receive, latest.receiveWindow);
    tcp = latest;
    windows.ForEach(windows.GetBegin(now, WINDOW_SLOTS),
                    [this](const LargestWindows& largest, TimePoint)
                    {
                      tcp->sendWindow = std::max(tcp->sendWindow, largest.send);
                      tcp->receiveWindow = std::max(tcp->receiveWindow, largest.receive);
                    });
  }
}
