// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/EvidenceCollector.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Looks at the open associations, two a second: 10 s
    constexpr double LOOKS_HALF_LIFE = 20;

    // Looks at the processor that its mean goes back: 3 s
    constexpr double RUNNABLE_LOOKS = 6;

    // Descriptors of connections to a database; a pool has 50 by default
    constexpr std::size_t MAXIMUM_CONNECTIONS = 256;


    // A mean in which the past counts less and less
    void Approach(double& mean, double value, double weight)
    {
      mean += (value - mean) / weight;
    }


    std::optional<std::uint32_t> GetLarger(const std::optional<std::uint32_t>& a,
                                           const std::optional<std::uint32_t>& b)
    {
      return a && b ? std::max(*a, *b) : (a ? a : b);
    }
  }


  EvidenceCollector::EvidenceCollector(PeerDirectory& directory, std::size_t dicomThreads,
                                       Now now) :
    directory_(directory),
    dicomThreads_(dicomThreads),
    now_(std::move(now)),
    records_(directory.GetCapacity())
  {
  }


  void EvidenceCollector::OnInstanceFinished(const FinishedInstance& instance)
  {
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);

    if (Way* const way = FindWay(instance.peer.name, instance.direction, PeerSign::Instance))
    {
      way->traffic.Add(instance, now);
    }

    const auto direction = static_cast<std::size_t>(instance.direction);
    totals_.at(direction).Add(instance, now);
    peerTotals_.at(direction).Add(instance, now);

    if (instance.direction == Direction::Receive)
    {
      CountReceived(instance, now);
    }
  }


  void EvidenceCollector::OnAssociationFinished(const FinishedAssociation& association)
  {
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);

    if (Way* const way =
            FindWay(association.peer.name, association.direction, GetSign(association.isAccepted)))
    {
      way->Update(association.parties);

      if (association.setup)
      {
        way->AddSetup(*association.setup, now);
      }

      if (association.tcp && association.instances > 0)
      {
        way->Update(*association.tcp, now);
      }
    }
  }


  void EvidenceCollector::OnTuningChanged(const Tuning& tuning) noexcept
  {
    const std::lock_guard lock(mutex_);
    const bool isFirst = !tuning_;

    if (!isFirst && !(tuning_->dicomSockets == tuning.dicomSockets))
    {
      for (const std::unique_ptr<Record>& record : records_)
      {
        if (record)
        {
          std::for_each(record->ways.begin(), record->ways.end(),
                        [](Way& way) { way.ForgetNetwork(); });
        }
      }

      peerTotals_ = {};
    }

    if (!isFirst && !(tuning_->ingestTranscoding == tuning.ingestTranscoding))
    {
      totals_ = {};
      calm_ = {};
      starved_ = {};
    }

    tuning_ = tuning;
  }


  void EvidenceCollector::Look(const std::vector<OpenAssociation>& open)
  {
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);

    for (const OpenAssociation& association : open)
    {
      Way* const way =
          FindWay(association.peer.name, association.direction, GetSign(association.isAccepted));

      if (way != nullptr)
      {
        way->Update(association.parties);

        if (association.tcp)
        {
          way->Update(*association.tcp, now);
        }
      }
    }

    AddLoad(open);
  }


  void EvidenceCollector::OnRunnableTasks(double tasks)
  {
    const std::lock_guard lock(mutex_);
    Approach(runnableTasks_, tasks, RUNNABLE_LOOKS);

    if (runnableTasks_ >= STARVED)
    {
      runnableWhileStarved_ = runnableTasks_;
    }
  }


  double EvidenceCollector::GetSecondsReceived()
  {
    const std::lock_guard lock(mutex_);
    return secondsReceived_;
  }


  void EvidenceCollector::OnMemory(const MemoryEvidence& memory)
  {
    const std::lock_guard lock(mutex_);
    memory_ = memory;
  }


  Evidence EvidenceCollector::Gather()
  {
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);

    const auto expire = [now](TrafficSums& sums)
    {
      sums.Expire(now);
    };
    std::for_each(totals_.begin(), totals_.end(), expire);
    std::for_each(peerTotals_.begin(), peerTotals_.end(), expire);

    calm_.Expire(now);
    starved_.Expire(now);

    if (now - latestLook_ > TrafficSums::MAXIMUM_AGE)
    {
      load_ = LoadEvidence();
    }

    Evidence evidence;
    GatherPeers(evidence, now);
    evidence.totals = totals_;
    evidence.peerTotals = peerTotals_;
    evidence.calm = calm_;
    evidence.starved = starved_;
    evidence.latestFailure = latestFailure_;
    evidence.runnableTasks = runnableWhileStarved_;
    evidence.load = load_;
    evidence.database = GatherDatabase(now);
    evidence.memory = memory_;
    return evidence;
  }


  void EvidenceCollector::Way::AddSetup(Duration setup, TimePoint now)
  {
    if (now - latestSetup > TrafficSums::MAXIMUM_AGE)
    {
      setups.clear();
      setupCount = 0;
    }

    if (setups.size() < SETUPS_KEPT)
    {
      setups.push_back(setup);
    }
    else
    {
      setups[setupCount % SETUPS_KEPT] = setup;
    }

    setupCount++;
    latestSetup = now;
  }


  void EvidenceCollector::Way::Update(const AssociationParties& latest)
  {
    if (!latest.callingTitle.empty())
    {
      parties = latest;
    }
  }


  // A window is small at the begin of a connection and when its data waits to be read. What a peer
  // has set anew shows once its earlier connections are old.
  void EvidenceCollector::Way::Update(const TcpSummary& latest, TimePoint now)
  {
    LargestWindows& newest = windows.At(now);
    newest.send = GetLarger(newest.send, latest.sendWindow);
    newest.receive = GetLarger(newest.receive, latest.receiveWindow);
    tcp = latest;
    windows.ForEach(now, WINDOW_SLOTS,
                    [this](const LargestWindows& largest)
                    {
                      tcp->sendWindow = GetLarger(tcp->sendWindow, largest.send);
                      tcp->receiveWindow = GetLarger(tcp->receiveWindow, largest.receive);
                    });
  }


  void EvidenceCollector::Way::ForgetNetwork()
  {
    traffic = TrafficSums();
    tcp.reset();
    windows.Clear();
  }


  void EvidenceCollector::CountReceived(const FinishedInstance& instance, TimePoint now)
  {
    secondsReceived_ += TrafficSums::CountSeconds(instance);

    if (instance.isOwnFailure)
    {
      latestFailure_ = instance.reason;
    }

    if (instance.database)
    {
      CountConnection(*instance.database, now);
    }

    (runnableTasks_ < STARVED ? calm_ : starved_).Add(instance, now);
  }


  void EvidenceCollector::CountConnection(const DatabaseRecord& database, TimePoint now)
  {
    databaseServer_ = database.server;

    if (connections_.size() < MAXIMUM_CONNECTIONS || connections_.count(database.connection) > 0)
    {
      connections_[database.connection] = now;
    }
  }


  // Connections that are closed make room for others: a pool may renew its own
  DatabaseEvidence EvidenceCollector::GatherDatabase(TimePoint now)
  {
    for (auto connection = connections_.begin(); connection != connections_.end();)
    {
      const bool isUsed = now - connection->second <= TrafficSums::MAXIMUM_AGE;
      connection = isUsed ? std::next(connection) : connections_.erase(connection);
    }

    return {databaseServer_, connections_.size()};
  }


  // Null if the peer is not known
  EvidenceCollector::Way* EvidenceCollector::FindWay(const std::string& peer, Direction direction,
                                                     PeerSign sign)
  {
    const std::optional<PeerPlace> place = directory_.Resolve(peer, sign);

    if (!place)
    {
      return nullptr;
    }

    std::unique_ptr<Record>& record = records_.at(place->index);

    if (!record || !(record->place == *place))
    {
      record = std::make_unique<Record>();
      record->place = *place;
    }

    return &record->ways.at(static_cast<std::size_t>(direction));
  }


  void EvidenceCollector::AddLoad(const std::vector<OpenAssociation>& open)
  {
    std::size_t received = 0;
    std::size_t unread = 0;

    for (const OpenAssociation& association : open)
    {
      const bool isReceived = association.direction == Direction::Receive;
      received += isReceived ? 1 : 0;
      unread += isReceived && association.unread.value_or(0) > 0 ? 1 : 0;
    }

    if (received > 0)
    {
      const std::size_t surplus = received > dicomThreads_ ? received - dicomThreads_ : 0;
      load_.looks = load_.looks * std::exp2(-1 / LOOKS_HALF_LIFE) + 1;
      Approach(load_.associations, static_cast<double>(received), load_.looks);
      Approach(load_.waiting, static_cast<double>(std::min(unread, surplus)), load_.looks);
      latestLook_ = now_();
    }
  }


  void EvidenceCollector::GatherPeers(Evidence& evidence, TimePoint now)
  {
    for (const std::unique_ptr<Record>& record : records_)
    {
      const std::optional<std::string> name =
          record ? directory_.FindName(record->place) : std::nullopt;

      for (const Direction direction : GetAllDirections())
      {
        if (name)
        {
          Way& way = record->ways.at(static_cast<std::size_t>(direction));
          way.traffic.Expire(now);
          const bool isSetupOld = now - way.latestSetup > TrafficSums::MAXIMUM_AGE;
          evidence.peers.push_back({*name, direction, way.traffic,
                                    isSetupOld ? std::vector<Duration>() : way.setups, way.parties,
                                    way.tcp});
        }
      }
    }
  }
}
