// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/ServerFacts.h"
#include "Ingest/InstanceInFlight.h"
#include "Metrics/PeerStatistics.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Tuning/TuningDocument.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
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
}
