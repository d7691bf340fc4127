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

    // All associations that are open now; to be told about twice a second
    void Look(const std::vector<OpenAssociation>& open);

    // What memory is short of, twice a second. Of "budget", and of the seconds "received" with
    // pauses, the totals since the start. "peak": of the process, in bytes.
    void OnMemory(const AdmissionFigures& budget, bool canWait, double received,
                  std::uint64_t peak);

    // The seconds of AnswerCompression::GetSeconds(); to be told about twice a second
    void OnDeflated(const std::array<double, 2>& totals);

    // How many tasks want each processor now (ReadRunnableTasks); to be told about twice a second
    void OnRunnableTasks(double tasks);

    // What there is now; without facts, tuning, what is stuck, and engines
    Evidence Gather();

  private:
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
