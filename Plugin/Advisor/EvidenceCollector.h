// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Admission/AdmissionQueue.h"
#include "Advisor/Evidence.h"
#include "Ingest/Journal.h"
#include "Tuning/TuningDocument.h"

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // What is to be seen besides what finishes
  struct Snapshot
  {
    std::vector<OpenAssociation> associations;  // all that are open
    AdmissionFigures budget;
    bool canWait = true;     // messages can, for the budget
    double received = 0;     // seconds of all that was received since the start, with pauses
    std::uint64_t peak = 0;  // bytes that the process ever had
    std::array<double, 2> deflateSeconds = {};  // AnswerCompression::GetSeconds()
    double runnableTasks = 0;                   // ReadRunnableTasks()
  };

  // Collects what the advisor judges: the latest traffic of the whole server, and what
  // PeerStatistics has of each peer. When the tuning of the transcoding changes, the server's
  // evidence is forgotten, so that a finding ends with its cause. When that of the sockets changes,
  // so is the peers' evidence.
  //
  // Owned by the plugin's context; any thread may call it. Some 100 ns an instance.
  class EvidenceCollector : public IJournalObserver
  {
  public:
    using Now = std::function<TimePoint()>;

    // Runnable tasks a processor, from which on an elapsed time says nothing about a disk or a
    // database: it is four times as long. The rules about storing begin at four times what is
    // usual.
    static constexpr double STARVED = 4;

    // The peers must outlive the collector. "dicomThreads": DicomThreadsCount of Orthanc's
    // configuration.
    EvidenceCollector(PeerStatistics& peers, std::size_t dicomThreads, Now now = &Clock::now);

    void OnInstanceFinished(const FinishedInstance& instance) override;
    void OnRequestFinished(const FinishedRequest& request) override;
    void OnTuningChanged(const Tuning& tuning) noexcept;

    // To be told about twice a second
    void Look(const Snapshot& snapshot);

    // What there is now; without facts, tuning, what is stuck, and engines
    Evidence Gather();

  private:
    // With the lock held
    void LookAtLoad(const std::vector<OpenAssociation>& open, TimePoint now);
    void LookAtMemory(const Snapshot& snapshot, TimePoint now);
    void CountConnection(const ServerRecord& database, TimePoint now);
    DatabaseEvidence GatherDatabase(TimePoint now);

    PeerStatistics& peers_;
    const std::size_t dicomThreads_;
    const Now now_;
    std::mutex mutex_;
    std::string latestFailure_;
    LatestTraffic calm_;               // see Evidence
    LatestTraffic starved_;            // likewise
    double runnableTasks_ = 0;         // the mean of the latest looks
    double runnableWhileStarved_ = 0;  // likewise
    LoadEvidence load_;
    MemoryEvidence memory_;
    MemoryEvidence memoryTotals_;  // since the start
    TimePoint peakRose_ = TimePoint::min();
    std::array<double, 2> deflatedBefore_ = {};
    std::array<DeflateEvidence, 2> deflated_;
    std::string databaseServer_;
    std::map<int, TimePoint> connections_;  // to the database, by descriptor: last used
    TimePoint latestLook_;
    std::optional<Tuning> tuning_;
  };
}
