// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Ingest/PeerDirectory.h"
#include "Metrics/PeerAssociations.h"
#include "Metrics/SlotRing.h"
#include "Metrics/Traffic.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // What went between Orthanc and one peer in one direction since Orthanc started,
  // and its rates over the last minute
  struct PeerTraffic : Traffic
  {
    PhaseDurations phases;  // of all instances together; their shares show where time goes
  };

  struct PeerSummary
  {
    std::string name;     // OTHER_PEERS: all that found no place of their own; empty: not known
    std::string address;  // of the last instance or association with one; empty: not known
    std::chrono::system_clock::time_point firstSeen;
    std::chrono::system_clock::time_point lastSeen;  // now, while an association is open
    std::array<PeerTraffic, DIRECTION_COUNT> directions;
    std::array<PeerAssociations, DIRECTION_COUNT> associations;
  };

  // Each peer's traffic and associations, for GET /perf/peers and for PeerMetrics. Owned by the
  // plugin's context; any thread may call it. Memory is bounded by the directory: some 3 kB a peer.
  class PeerStatistics : public IJournalObserver
  {
  public:
    using Now = std::function<TimePoint()>;
    using WallTime = std::chrono::system_clock::time_point;
    using WallNow = std::function<WallTime()>;

    // The directory must outlive the statistics. The list of open associations is asked for by
    // Summarize() on its thread.
    explicit PeerStatistics(PeerDirectory& directory, ListOpenAssociations listOpen = {},
                            Now now = &Clock::now,
                            WallNow wallNow = &std::chrono::system_clock::now);

    void OnInstanceFinished(const FinishedInstance& instance) override;
    void OnAssociationFinished(const FinishedAssociation& association) override;

    // All peers that have sent or received an instance, or had an association, in the order of
    // their places in the directory; the others last
    std::vector<PeerSummary> Summarize() const;

    // The same, and after them what came from peers that are not known, if anything
    std::vector<PeerSummary> SummarizeAll() const;

  private:
    // Of three seconds
    struct Rate
    {
      std::uint64_t instances = 0;
      std::uint64_t bytes = 0;
    };

    struct Record
    {
      explicit Record(TimePoint start);

      void Add(const FinishedInstance& instance, TimePoint now);
      void Add(const FinishedAssociation& association, WallTime now);
      PeerSummary Summarize(TimePoint now) const;

      PeerSummary totals;  // without the rates
      std::array<SlotRing<Rate>, DIRECTION_COUNT> rates;
    };

    using Summaries = std::map<PeerIndex, PeerSummary>;

    PeerIndex Find(const Peer& peer) const;
    Record& GetRecord(PeerIndex place);
    Summaries SummarizeFinished() const;
    void AddOpen(Summaries& summaries) const;

    PeerDirectory& directory_;
    const ListOpenAssociations listOpen_;
    const Now now_;
    const WallNow wallNow_;
    const TimePoint start_;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Record>> records_;  // by place, the last of those not known
  };
}
