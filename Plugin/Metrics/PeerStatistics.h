// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Ingest/PeerDirectory.h"
#include "Metrics/LatestTraffic.h"
#include "Metrics/PeerAssociations.h"

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
    std::array<TrafficBucket, DIRECTION_COUNT> directions;  // since the start
    std::array<TrafficRates, DIRECTION_COUNT> rates;  // of the last minute, or since Restart()
    std::array<PeerAssociations, DIRECTION_COUNT> associations;
  };

  // The associations that one side asked for in vain, one after the other
  struct FailedAssociations
  {
    std::uint64_t count = 0;                                // since the latest that was accepted
    AssociationOutcome outcome = AssociationOutcome::Lost;  // of the latest
    std::string rejection;                                  // likewise, see FinishedAssociation
  };

  // What was seen lately of one peer in one direction
  struct PeerEvidence
  {
    std::string name;
    Direction direction = Direction::Receive;
    TrafficBucket traffic;
    std::vector<Duration> setups;  // how long its latest associations took to be answered
    AssociationParties parties;    // of the latest association that could be read
    std::optional<TcpSummary>
        tcp;  // of the latest connection; the largest window while it was open
    FailedAssociations failed;
  };

  // Each peer's traffic and associations, for /perf/peers, the metrics and the advisor. Owned by
  // the plugin's context; any thread may call it. Memory is bounded by the directory: at most 33 kB
  // a peer. What is known of a peer is forgotten once another peer has taken over its place.
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

    // All associations that are open now, for the evidence; to be told about twice a second
    void Look(const std::vector<OpenAssociation>& open);

    // To be called when the tuning of the sockets changes: evidence and rates begin anew, so that a
    // finding ends with its cause
    void Restart() noexcept;

    // Of the peers with a place, in both directions
    std::vector<PeerEvidence> GatherEvidence() const;

    // All peers with a place that have sent or received an instance, or had an association, in the
    // order of their places in the directory; the others last
    std::vector<PeerSummary> Summarize() const;

    // The same, and after them what came from peers that are not known, if anything
    std::vector<PeerSummary> SummarizeAll() const;

  private:
    static constexpr std::size_t SETUPS_KEPT = 8;

    // A window is judged by the last five to ten minutes
    static constexpr std::size_t WINDOW_SLOTS = 2;

    // What a peer's connections had during some minutes
    struct LargestWindows
    {
      std::optional<std::uint32_t> send;  // bytes, see TcpSummary
      std::optional<std::uint32_t> receive;
    };

    // What was seen lately in one direction
    struct Recent
    {
      explicit Recent(TimePoint start) : traffic(start)
      {
      }

      void AddSetup(Duration setup, TimePoint now);
      void CountFailure(const FinishedAssociation& association, TimePoint now);
      void Update(const AssociationParties& latest);
      void Update(const TcpSummary& latest, TimePoint now);

      LatestTraffic traffic;
      std::vector<Duration> setups;  // at most SETUPS_KEPT, the oldest first
      TimePoint latestSetup;
      FailedAssociations failed;
      TimePoint latestFailure;
      AssociationParties parties;
      std::optional<TcpSummary> tcp;
      SlotRing<LargestWindows> windows{LatestTraffic::MAXIMUM_AGE, WINDOW_SLOTS, TimePoint()};
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
      std::array<Recent, DIRECTION_COUNT> recent;
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
