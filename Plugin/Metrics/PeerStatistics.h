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
  struct PeerSummary
  {
    std::string name;     // OTHER_PEERS: all that have no place of their own; empty: not known
    std::string address;  // of the last instance or association with one; empty: not known
    std::chrono::system_clock::time_point firstSeen;  // by the system's clock as it is set now
    std::chrono::system_clock::time_point lastSeen;   // now, while an association is open
    std::array<Traffic, DIRECTION_COUNT> directions;  // since the start; rates: the last minute
    std::array<PeerAssociations, DIRECTION_COUNT> associations;
  };

  // Each peer's traffic and associations, for /perf/peers and the metrics. Owned by the
  // plugin's context; any thread may call it. Memory is bounded by the directory: some 3 kB a peer.
  // What is known of a peer is forgotten once another peer has taken over its place.
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

    // All peers with a place that have sent or received an instance, or had an association, in the
    // order of their places in the directory; the others last
    std::vector<PeerSummary> Summarize() const;

    // The same, and after them what came from peers that are not known, if anything
    std::vector<PeerSummary> SummarizeAll() const;

  private:
    // Of one slot
    struct Rate
    {
      std::uint64_t instances = 0;
      std::uint64_t bytes = 0;
    };

    // Now, by the clock that measures, and by the one that people read. What was seen earlier gets
    // its date by both, so that a clock that was wrong is right again once it is set.
    struct Moment
    {
      TimePoint time;
      WallTime date;

      WallTime GetDate(TimePoint earlier) const
      {
        return date - std::chrono::duration_cast<WallTime::duration>(time - earlier);
      }
    };

    struct Record
    {
      Record(PeerPlace place, TimePoint start);

      void Add(const FinishedInstance& instance, TimePoint now);
      void Add(const FinishedAssociation& association, TimePoint now);
      void See(TimePoint from, TimePoint to);
      PeerSummary Summarize(const Moment& now) const;

      PeerPlace place;
      PeerSummary totals;  // without the rates, and without the dates: a clock may be set
      std::optional<TimePoint> firstSeen;
      TimePoint lastSeen;
      std::array<SlotRing<Rate>, DIRECTION_COUNT> rates;
    };

    using Summaries = std::map<PeerPlace, PeerSummary>;

    PeerPlace Find(const Peer& peer, PeerSign sign) const;
    Record& GetRecord(const PeerPlace& place);
    Summaries SummarizeFinished(const Moment& now) const;
    void AddOpen(Summaries& summaries, const Moment& now) const;

    PeerDirectory& directory_;
    const ListOpenAssociations listOpen_;
    const Now now_;
    const WallNow wallNow_;
    const TimePoint start_;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Record>> records_;  // by place, the last of those not known
  };
}
