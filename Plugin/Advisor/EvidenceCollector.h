// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Evidence.h"
#include "Ingest/Journal.h"
#include "Ingest/PeerDirectory.h"
#include "Metrics/SlotRing.h"
#include "Tuning/TuningStore.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Collects what the advisor judges: sums that forget (TrafficSums), for each peer of the
  // directory and for the whole server. When the tuning of the sockets changes, what was seen of
  // the peers before says nothing any more and is forgotten at once, so that a finding ends with
  // its cause; likewise the totals when the transcoding changes.
  //
  // Owned by the plugin's context; any thread may call it. Some 250 ns an instance. Memory: 1 kB a
  // peer.
  class EvidenceCollector : public IJournalObserver, public ITuningObserver
  {
  public:
    using Now = std::function<TimePoint()>;

    // Runnable tasks a processor, from which on an elapsed time says nothing about a disk or a
    // database: it is four times as long. The rules about storing begin at four times what is
    // usual.
    static constexpr double STARVED = 4;

    // The directory must outlive the collector. "dicomThreads": DicomThreadsCount of Orthanc's
    // configuration.
    EvidenceCollector(PeerDirectory& directory, std::size_t dicomThreads, Now now = &Clock::now);

    void OnInstanceFinished(const FinishedInstance& instance) override;
    void OnAssociationFinished(const FinishedAssociation& association) override;
    void OnTuningChanged(const Tuning& tuning) noexcept override;

    // All associations that are open now; to be told about twice a second
    void Look(const std::vector<OpenAssociation>& open);

    // What all instances that were received have taken since the start, in seconds, with the
    // senders' pauses; unlike the sums, it forgets nothing
    double GetSecondsReceived();

    // What memory has been short of; the latest is the evidence
    void OnMemory(const MemoryEvidence& memory);

    // How many tasks want each processor now (ReadRunnableTasks); to be told about twice a second
    void OnRunnableTasks(double tasks);

    // What there is now; without facts, tuning, what is stuck, and engines
    Evidence Gather();

  private:
    static constexpr std::size_t SETUPS_KEPT = 8;

    // What a peer's connections had during some minutes
    struct LargestWindows
    {
      std::optional<std::uint32_t> send;  // bytes, see TcpSummary
      std::optional<std::uint32_t> receive;
    };

    // A window is judged by the last five to ten minutes
    static constexpr std::size_t WINDOW_SLOTS = 2;

    struct Way
    {
      TrafficSums traffic;
      std::vector<Duration> setups;  // at most SETUPS_KEPT, in no order
      std::size_t setupCount = 0;
      TimePoint latestSetup;
      AssociationParties parties;
      std::optional<TcpSummary> tcp;
      SlotRing<LargestWindows> windows{TrafficSums::MAXIMUM_AGE, WINDOW_SLOTS, TimePoint()};

      void AddSetup(Duration setup, TimePoint now);
      void Update(const AssociationParties& latest);
      void Update(const TcpSummary& latest, TimePoint now);
      void ForgetNetwork();
    };

    struct Record
    {
      PeerPlace place;
      std::array<Way, DIRECTION_COUNT> ways;
    };

    void CountReceived(const FinishedInstance& instance, TimePoint now);
    void CountConnection(const DatabaseRecord& database, TimePoint now);
    DatabaseEvidence GatherDatabase(TimePoint now);
    Way* FindWay(const std::string& peer, Direction direction, PeerSign sign);
    void AddLoad(const std::vector<OpenAssociation>& open);
    void GatherPeers(Evidence& evidence, TimePoint now);

    PeerDirectory& directory_;
    const std::size_t dicomThreads_;
    const Now now_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Record>> records_;  // by place; nothing: not seen yet
    std::array<TrafficSums, DIRECTION_COUNT> totals_;
    std::array<TrafficSums, DIRECTION_COUNT> peerTotals_;
    double secondsReceived_ = 0;
    std::string latestFailure_;
    TrafficSums calm_;                 // see Evidence
    TrafficSums starved_;              // likewise
    double runnableTasks_ = 0;         // the mean of the latest looks
    double runnableWhileStarved_ = 0;  // likewise
    LoadEvidence load_;
    MemoryEvidence memory_;
    std::string databaseServer_;
    std::map<int, TimePoint> connections_;  // to the database, by descriptor: last used
    TimePoint latestLook_;
    std::optional<Tuning> tuning_;
  };
}
