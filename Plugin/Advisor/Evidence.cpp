// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Evidence.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // The number at this place in a file of numbers; 0: there is none
    std::uint64_t ReadNumber(const char* path, unsigned int place)
    {
      std::ifstream file(path);
      std::uint64_t number = 0;

      for (unsigned int i = 0; i <= place; i++)
      {
        if (!(file >> number))
        {
          return 0;
        }
      }

      return number;
    }

    // Looks at the open associations, two a second: 10 s
    constexpr double LOOKS_HALF_LIFE = 20;

    // Looks at the processor that its mean goes back: 3 s
    constexpr double RUNNABLE_LOOKS = 6;

    // What is left of a figure at the next look, two a second: five minutes
    constexpr double KEPT = 1 - 1.0 / 600;

    // Descriptors of connections to a database; a pool has 50 by default
    constexpr std::size_t MAXIMUM_CONNECTIONS = 256;

    // A mean in which the past counts less and less
    void Approach(double& mean, double value, double weight)
    {
      mean += (value - mean) / weight;
    }

    // "before": the total at the look before. The first ones of a process count in full.
    void AddRecent(double& recent, double& before, double total)
    {
      recent = recent * KEPT + total - std::exchange(before, total);
    }
  }

  KernelLimits KernelLimits::Read()
  {
    KernelLimits limits;
    limits.largestReceiveBuffer = ReadNumber("/proc/sys/net/core/rmem_max", 0);
    limits.largestSendBuffer = ReadNumber("/proc/sys/net/core/wmem_max", 0);
    limits.largestAutomaticReceive = ReadNumber("/proc/sys/net/ipv4/tcp_rmem", 2);
    return limits;
  }

  bool ServerFacts::IsOlderThan(const OrthancRelease& release) const
  {
    std::istringstream text(orthancVersion);
    OrthancRelease own = {};
    char dot = 0;
    return text >> own[0] >> dot >> own[1] >> dot >> own[2] && own < release;
  }

  bool ServerFacts::IsStorageInDatabase() const
  {
    return configuration[databaseSection]["EnableStorage"] == Json::Value(true);
  }

  double ReadRunnableTasks()
  {
    std::ifstream file("/proc/loadavg");
    double average = 0;
    double runnable = 0;

    if (!(file >> average >> average >> average >> runnable))
    {
      return 0;
    }

    return std::max(runnable - 1, 0.0) / std::max(std::thread::hardware_concurrency(), 1U);
  }

  std::uint64_t ReadProcessMemory(const char* key)
  {
    std::ifstream file("/proc/self/status");
    std::uint64_t kibibytes = 0;
    std::string word;

    while (word != key && file >> word)
    {
    }

    return file >> kibibytes ? kibibytes * 1024 : 0;
  }

  EvidenceCollector::EvidenceCollector(PeerStatistics& peers, std::size_t dicomThreads, Now now) :
    peers_(peers),
    dicomThreads_(dicomThreads),
    now_(std::move(now)),
    calm_(now_()),
    starved_(now_())
  {
  }

  void EvidenceCollector::OnInstanceFinished(const FinishedInstance& instance)
  {
    if (instance.direction != Direction::Receive)
    {
      return;
    }

    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);
    (runnableTasks_ < STARVED ? calm_ : starved_).Add(instance, now);

    if (instance.isOwnFailure)
    {
      latestFailure_ = instance.reason;
    }

    if (instance.database)
    {
      CountConnection(*instance.database, now);
    }
  }

  void EvidenceCollector::OnRequestFinished(const FinishedRequest& request)
  {
    if (request.route == RouteClass::Archive || request.route == RouteClass::File)
    {
      const std::lock_guard lock(mutex_);
      deflated_[request.route == RouteClass::File ? 1 : 0].requests +=
          ToSeconds(request.GetDuration());
    }
  }

  void EvidenceCollector::OnTuningChanged(const Tuning& tuning) noexcept
  {
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);

    if (tuning_ && !(tuning_->dicomSockets == tuning.dicomSockets))
    {
      peers_.Restart();
    }

    if (tuning_ && !(tuning_->ingestTranscoding == tuning.ingestTranscoding))
    {
      calm_.Restart(now);
      starved_.Restart(now);
    }

    tuning_ = tuning;
  }

  void EvidenceCollector::Look(const Snapshot& snapshot)
  {
    peers_.Look(snapshot.associations);
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);
    LookAtLoad(snapshot.associations, now);
    LookAtMemory(snapshot, now);

    for (std::size_t i = 0; i < deflated_.size(); i++)
    {
      deflated_[i].requests *= KEPT;
      AddRecent(deflated_[i].deflate, deflatedBefore_[i], snapshot.deflateSeconds[i]);
    }

    Approach(runnableTasks_, snapshot.runnableTasks, RUNNABLE_LOOKS);
    runnableWhileStarved_ = runnableTasks_ >= STARVED ? runnableTasks_ : runnableWhileStarved_;
  }

  void EvidenceCollector::LookAtLoad(const std::vector<OpenAssociation>& open, TimePoint now)
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
      latestLook_ = now;
    }
  }

  void EvidenceCollector::LookAtMemory(const Snapshot& snapshot, TimePoint now)
  {
    const AdmissionFigures& budget = snapshot.budget;
    const std::uint64_t peakBefore = std::exchange(memoryTotals_.recentPeak, snapshot.peak);
    peakRose_ = peakBefore != 0 && snapshot.peak > peakBefore ? now : peakRose_;
    memory_.recentPeak = peakRose_ > now - LatestTraffic::MAXIMUM_AGE ? snapshot.peak : 0;
    memory_.canWait = snapshot.canWait;
    memory_.budget = snapshot.canWait ? budget.limit : 0;
    AddRecent(memory_.waits, memoryTotals_.waits, static_cast<double>(budget.waits));
    AddRecent(memory_.waited, memoryTotals_.waited, ToSeconds(budget.waited));
    AddRecent(memory_.received, memoryTotals_.received, snapshot.received);
    AddRecent(memory_.givenUp, memoryTotals_.givenUp, static_cast<double>(budget.givenUp));
  }

  Evidence EvidenceCollector::Gather()
  {
    Evidence evidence;
    evidence.peers = peers_.GatherEvidence();

    for (const PeerEvidence& peer : evidence.peers)
    {
      evidence.peerTotals[static_cast<std::size_t>(peer.direction)] += peer.traffic;
    }

    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);

    if (now - latestLook_ > LatestTraffic::MAXIMUM_AGE)
    {
      load_ = LoadEvidence();
    }

    evidence.calm = calm_.GetEvidence(now);
    evidence.starved = starved_.GetEvidence(now);
    evidence.received += evidence.calm;
    evidence.received += evidence.starved;
    evidence.latestFailure = latestFailure_;
    evidence.runnableTasks = runnableWhileStarved_;
    evidence.load = load_;
    evidence.database = GatherDatabase(now);
    evidence.memory = memory_;
    evidence.deflated = deflated_;
    return evidence;
  }

  void EvidenceCollector::CountConnection(const ServerRecord& database, TimePoint now)
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
      const bool isUsed = now - connection->second <= LatestTraffic::MAXIMUM_AGE;
      connection = isUsed ? std::next(connection) : connections_.erase(connection);
    }

    return {databaseServer_, connections_.size()};
  }
}
