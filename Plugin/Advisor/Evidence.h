// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Admission/AdmissionQueue.h"
#include "Advisor/Evidence.h"
#include "Ingest/InstanceInFlight.h"
#include "Ingest/Journal.h"
#include "Metrics/PeerStatistics.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Tuning/TuningDocument.h"

#include <json/value.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // What Linux allows a socket's buffers, in bytes; 0: not known
  struct KernelLimits
  {
    std::uint64_t largestReceiveBuffer = 0;     // net.core.rmem_max: what may be asked for
    std::uint64_t largestSendBuffer = 0;        // net.core.wmem_max
    std::uint64_t largestAutomaticReceive = 0;  // net.ipv4.tcp_rmem, the third: autotuning's end

    // As they are now, from /proc/sys
    static KernelLimits Read();
  };

  using OrthancRelease = std::array<unsigned int, 3>;  // {1, 12, 2}

  // What is known of this Orthanc besides its traffic. A value.
  class ServerFacts
  {
  public:
    Json::Value configuration = Json::objectValue;  // Orthanc's, all of it
    std::string orthancVersion;                     // "1.12.7"; "mainline" is newer than all
    KernelLimits kernel;
    std::uint64_t memory = 0;  // bytes that Orthanc may have; 0: not known
    unsigned int cores = 1;
    bool hasDatabasePlugin = false;  // else SQLite
    std::string databaseSection;     // see ServerConfiguration
    std::string indexFile;           // SQLite's; empty: there is none
    std::optional<std::uint64_t> storedInstances;
    std::optional<double> lookupTime;  // seconds of POST /tools/lookup; not of a small store

    // Whether this is an Orthanc before that release; not if it says no version
    bool IsOlderThan(const OrthancRelease& release) const;

    bool IsStorageInDatabase() const;  // "EnableStorage" of databaseSection

    template <typename Value>
    Value Get(const char* option, const Value& defaultValue) const
    {
      const Json::Value& value = configuration[option];
      return value.is<Value>() ? value.as<Value>() : defaultValue;
    }
  };

  // How many tasks run or want to run now, for each processor, this one left out (proc_loadavg(5),
  // the fourth field). Unlike the load average, it leaves out what waits for a disk. 0: not known.
  double ReadRunnableTasks();

  // What this process has of memory, in bytes, by a key of /proc/self/status (proc(5)): "VmHWM:",
  // the most that it ever had; "RssAnon:", what is no file's. 0: not known.
  std::uint64_t ReadProcessMemory(const char* key);

  // The associations that peers have with Orthanc, as they were found by looking twice a second;
  // only moments count in which there was one
  struct LoadEvidence
  {
    double looks = 0;         // weights: how much evidence there is
    double associations = 0;  // open at once, the mean
    double waiting = 0;       // of them with unread data that no thread of Orthanc is free for
  };

  // The database, where it is a server
  struct DatabaseEvidence
  {
    std::string server;           // its address; empty: not known
    std::size_t connections = 0;  // that threads which ingest have used lately
  };

  // What memory has been short of in the last minutes; older ones fade
  struct MemoryEvidence
  {
    bool canWait = true;           // messages can; not without the socket probe
    std::uint64_t budget = 0;      // bytes of the instances in flight; 0: there is none in effect
    double waits = 0;              // messages that had to wait for it
    double waited = 0;             // seconds, all together
    double received = 0;           // seconds of all that was received meanwhile, with pauses
    double givenUp = 0;            // messages admitted over it after the longest wait
    std::uint64_t recentPeak = 0;  // bytes that the process had, if it never had more before
  };

  // DICOM files that Orthanc deflated at its own level in the last minutes. In seconds; older ones
  // fade.
  struct DeflateEvidence
  {
    double deflate = 0;
    double requests = 0;  // of all such requests
  };

  // All that rules judge. A value.
  struct Evidence
  {
    std::vector<PeerEvidence> peers;
    std::array<TrafficBucket, DIRECTION_COUNT> peerTotals;  // what a peer's share is one of
    TrafficBucket received;                                 // from all peers, also unknown ones:
    TrafficBucket calm;                                     // while processor time was to be had,
    TrafficBucket starved;      // and while many tasks wanted each processor (STARVED)
    double runnableTasks = 0;   // a processor, while that was so: the mean
    std::string latestFailure;  // the reason of the latest own failure
    std::vector<StuckInstance> stuck;
    LoadEvidence load;
    DatabaseEvidence database;
    MemoryEvidence memory;
    std::array<DeflateEvidence, 2> deflated;  // in archives, and as gzip over HTTP
    std::vector<ReadSummary> served;          // by RouteClass, in five minutes
    std::vector<EngineVerdict> engines;       // of the self-test
    ServerFacts facts;
    Tuning tuning;

    const TrafficBucket& GetTotalOfPeers(Direction direction) const
    {
      return peerTotals[static_cast<std::size_t>(direction)];
    }
  };

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
