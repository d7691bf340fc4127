// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/PeerStatistics.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    std::string Bound(const std::string& text)
    {
      return text.substr(0, MAXIMUM_PEER_NAME);
    }

    void AddTo(std::optional<Duration>& total, const std::optional<Duration>& duration)
    {
      if (duration)
      {
        total = total.value_or(Duration::zero()) + *duration;
      }
    }

    // What the peers without a place of their own are called together
    constexpr const char* OTHER_PEERS = "other";
  }

  void PeerAssociations::Add(const FinishedAssociation& association)
  {
    outcomes.at(static_cast<std::size_t>(association.outcome))++;
    instances += association.instances;
    bytes += association.direction == Direction::Receive ? association.bytesReceived
                                                         : association.bytesSent;
    setup.Add(association.setup);
    connect.Add(association.connect);
    Update(association.parties);
    tcp = association.tcp ? association.tcp : tcp;
    rejection = association.rejection.empty() ? rejection : association.rejection;

    if (association.tcp)
    {
      retransmits = retransmits.value_or(0) + association.tcp->retransmits;
      AddTo(receiveWindowLimited, association.tcp->receiveWindowLimited);
      AddTo(sendBufferLimited, association.tcp->sendBufferLimited);
    }
  }

  void PeerAssociations::Add(const OpenAssociation& association)
  {
    open = open.value_or(0) + 1;
    Update(association.parties);
    tcp = association.tcp ? association.tcp : tcp;
  }

  void PeerAssociations::Update(const AssociationParties& latest)
  {
    if (!latest.calledTitle.empty())
    {
      parties = {Bound(latest.callingTitle), Bound(latest.calledTitle),
                 Bound(latest.implementationVersion), latest.maximumLength};
    }
    else if (parties.callingTitle.empty())
    {
      parties.callingTitle = Bound(latest.callingTitle);
    }
  }

  bool PeerAssociations::IsAny() const
  {
    return open.value_or(0) > 0 ||
           std::any_of(outcomes.begin(), outcomes.end(), [](auto count) { return count > 0; });
  }

  std::uint64_t PeerAssociations::CountEstablished() const
  {
    return GetCount(AssociationOutcome::Released) + GetCount(AssociationOutcome::Aborted) +
           GetCount(AssociationOutcome::Lost) + GetCount(AssociationOutcome::Encrypted);
  }

  void PeerSummary::See(const Peer& peer, TimePoint from, TimePoint to)
  {
    firstSeen = std::min(firstSeen, from);
    lastSeen = std::max(lastSeen, to);

    if (!peer.address.empty())
    {
      address.assign(peer.address, 0, MAXIMUM_PEER_NAME);
    }
  }

  PeerStatistics::PeerStatistics(std::size_t maximumPeers, ListOpenAssociations listOpen, Now now) :
    maximumPeers_(maximumPeers),
    listOpen_(std::move(listOpen)),
    now_(std::move(now)),
    start_(now_()),
    others_(start_),
    unknown_(start_)
  {
  }

  void PeerStatistics::SetModalities(const std::vector<std::string>& titles)
  {
    std::set<std::string> modalities;
    std::transform(titles.begin(), titles.end(), std::inserter(modalities, modalities.end()),
                   &MakePrintable);
    const std::lock_guard lock(mutex_);

    // The known ones first, so that no modality takes over the place of another one
    for (auto& [name, place] : places_)
    {
      place.isModality = modalities.count(name) > 0;
    }

    for (const std::string& name : modalities)
    {
      if (Place* const place = places_.count(name) == 0 ? Add(name, Duration::min()) : nullptr)
      {
        place->isModality = true;
      }
    }
  }

  void PeerStatistics::OnInstanceFinished(const FinishedInstance& instance)
  {
    const auto direction = static_cast<std::size_t>(instance.direction);
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);
    Place& place = Find(instance.peer, true);
    place.lastInstance = now;
    place.totals.See(instance.peer, instance.endedAt, instance.endedAt);
    place.totals.directions[direction].Add(instance);
    place.recent[direction].traffic.Add(instance, now);
  }

  void PeerStatistics::OnAssociationFinished(const FinishedAssociation& association)
  {
    const auto direction = static_cast<std::size_t>(association.direction);
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);
    Place& place = Find(association.peer, association.isAccepted);
    place.totals.See(association.peer, now - association.length, now);
    place.totals.directions[direction].associations.Add(association);
    place.recent[direction].Add(association, now);
  }

  void PeerStatistics::Look(const std::vector<OpenAssociation>& open)
  {
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);

    for (const OpenAssociation& association : open)
    {
      const auto direction = static_cast<std::size_t>(association.direction);
      Place& place = Find(association.peer, association.isAccepted);
      place.totals.directions[direction].associations.Update(association.parties);

      if (association.tcp)
      {
        place.recent[direction].Update(*association.tcp, now);
      }
    }
  }

  void PeerStatistics::Restart() noexcept
  {
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);
    ForEachPlace(*this,
                 [now](const std::string&, Place& place)
                 {
                   for (Recent& recent : place.recent)
                   {
                     recent.traffic.Restart(now);
                     recent.tcp.reset();
                     recent.windows.Clear(TimePoint());
                   }
                 });
    start_ = now;
  }

  std::vector<PeerEvidence> PeerStatistics::GatherEvidence() const
  {
    const TimePoint now = now_();
    const auto isOld = [now](TimePoint time)
    {
      return now - time > LatestTraffic::MAXIMUM_AGE;
    };
    std::vector<PeerEvidence> evidence;
    const std::lock_guard lock(mutex_);
    ForEachPlace(*this,
                 [&](const std::string& name, const Place& place)
                 {
                   const bool isPeer = place.isSeen && !name.empty();

                   for (std::size_t i = 0; isPeer && i < DIRECTION_COUNT; i++)
                   {
                     const Recent& recent = place.recent[i];
                     evidence.push_back(
                         {name, static_cast<Direction>(i), recent.traffic.GetEvidence(now),
                          isOld(recent.latestSetup) ? std::vector<Duration>() : recent.setups,
                          place.totals.directions[i].associations.parties, recent.tcp,
                          isOld(recent.latestFailure) ? FailedAssociations() : recent.failed});
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
      Find(association.peer, association.isAccepted);
    }

    std::vector<const Place*> owners;
    std::transform(open.begin(), open.end(), std::back_inserter(owners),
                   [this](const OpenAssociation& association)
                   { return &Find(association.peer, false); });

    std::vector<PeerSummary> list;
    ForEachPlace(*this,
                 [&](const std::string& name, const Place& place)
                 {
                   PeerSummary summary = place.totals;
                   summary.name = name;

                   for (std::size_t i = 0; i < DIRECTION_COUNT; i++)
                   {
                     PeerTraffic& traffic = summary.directions[i];
                     traffic.rates = place.recent[i].traffic.GetRates(now);
                     traffic.associations.open =
                         listOpen_ ? std::make_optional<std::uint64_t>(0) : std::nullopt;
                   }

                   for (std::size_t i = 0; i < open.size(); i++)
                   {
                     if (owners[i] == &place)
                     {
                       const auto direction = static_cast<std::size_t>(open[i].direction);
                       summary.See(open[i].peer, now - open[i].age, now);
                       summary.directions[direction].associations.Add(open[i]);
                     }
                   }

                   if (summary.firstSeen != TimePoint::max())
                   {
                     list.push_back(std::move(summary));
                   }
                 });
    return list;
  }

  PeerStatistics::Place& PeerStatistics::Find(const Peer& peer, bool mayAdd)
  {
    const std::string name = MakePrintable(peer.name);
    const auto known = places_.find(name);
    Place* place = known != places_.end() ? &known->second : mayAdd ? Add(name, KEPT) : nullptr;

    if (place == nullptr)
    {
      place = name.empty() ? &unknown_ : &others_;
    }

    place->isSeen = true;
    return *place;
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

    Place& place = places_.try_emplace(name, start_).first->second;
    place.lastInstance = now;
    return &place;
  }

  template <typename Statistics, typename Visit>
  void PeerStatistics::ForEachPlace(Statistics& statistics, const Visit& visit)
  {
    for (auto& [name, place] : statistics.places_)
    {
      visit(name, place);
    }

    visit(OTHER_PEERS, statistics.others_);
    visit("", statistics.unknown_);
  }

  void PeerStatistics::Recent::Add(const FinishedAssociation& association, TimePoint now)
  {
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

      if (setups.size() == SETUPS_KEPT)
      {
        setups.erase(setups.begin());
      }

      setups.push_back(*association.setup);
      latestSetup = now;
    }

    if (association.tcp && association.instances > 0)
    {
      Update(*association.tcp, now);
    }
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
