// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Metrics/PeerAssociations.h"
#include "Metrics/TrafficBucket.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // What went between Orthanc and a peer in one direction since the start
  struct PeerTraffic : TrafficBucket
  {
    TrafficRates rates;  // of the last minute, or since Restart()
    PeerAssociations associations;
  };

  struct PeerSummary
  {
    std::string name;     // "other": all that have no place of their own; empty: not known
    std::string address;  // of the last instance or association with one; empty: not known
    TimePoint firstSeen = TimePoint::max();
    TimePoint lastSeen;  // now, while an association is open
    std::array<PeerTraffic, DIRECTION_COUNT> directions;

    void See(const Peer& peer, TimePoint from, TimePoint to);
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
    std::vector<Duration> setups;   // how long its latest associations took to be answered
    AssociationParties parties;     // of the latest association that could be read
    std::optional<TcpSummary> tcp;  // of the latest connection, with its largest windows
    FailedAssociations failed;
  };

  // Each peer's traffic and associations, for /perf/peers, the metrics and the advisor.
  //
  // Strangers can invent as many names as they like, so at most "maximumPeers" are told apart. All
  // others share the name "other", as does a peer that calls itself so. A peer gets a place with
  // its first accepted association or instance. If all are taken, it takes over the place that has
  // been without an instance for the longest time, an hour at least; its figures begin anew.
  // Orthanc's modalities have a place before anyone else, and nobody takes it over.
  //
  // Owned by the plugin's context; any thread may call it. One mutex guards all. At most 33 kB a
  // peer.
  class PeerStatistics : public IJournalObserver
  {
  public:
    using Now = std::function<TimePoint()>;

    // So long without an instance, an unlisted peer keeps its place
    static constexpr Duration KEPT = std::chrono::hours(1);

    // The list of open associations is asked for by Summarize() on its thread
    explicit PeerStatistics(std::size_t maximumPeers, ListOpenAssociations listOpen = {},
                            Now now = &Clock::now);

    // Sets Orthanc's modalities. Each gets a place, if need be that of a peer that is no modality.
    // If there are more modalities than places, some get none.
    void SetModalities(const std::vector<std::string>& titles);

    void OnInstanceFinished(const FinishedInstance& instance) override;
    void OnAssociationFinished(const FinishedAssociation& association) override;

    // All associations that are open now, for the evidence; to be told about twice a second
    void Look(const std::vector<OpenAssociation>& open);

    // To be called when the tuning of the sockets changes: evidence and rates begin anew, so that a
    // finding ends with its cause
    void Restart() noexcept;

    // Of the peers with a place, and the others, in both directions
    std::vector<PeerEvidence> GatherEvidence() const;

    // All peers that have sent or received an instance, or had an association, by name; then the
    // others, and what came from peers that are not known
    std::vector<PeerSummary> Summarize();

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

      void Add(const FinishedAssociation& association, TimePoint now);
      void Update(const TcpSummary& latest, TimePoint now);

      LatestTraffic traffic;
      std::vector<Duration> setups;  // at most SETUPS_KEPT
      TimePoint latestSetup;
      FailedAssociations failed;
      TimePoint latestFailure;
      std::optional<TcpSummary> tcp;
      SlotRing<LargestWindows> windows{LatestTraffic::MAXIMUM_AGE, WINDOW_SLOTS, TimePoint()};
    };

    struct Place
    {
      explicit Place(TimePoint start) : recent{Recent(start), Recent(start)}
      {
      }

      bool isSeen = false;  // else it is kept for a modality
      bool isModality = false;
      TimePoint lastInstance;  // or when the peer got it
      PeerSummary totals;      // without name and rates
      std::array<Recent, DIRECTION_COUNT> recent;
    };

    // With the lock held. "mayAdd": the peer gets a place if it has none.
    Place& Find(const Peer& peer, bool mayAdd);
    Place* Add(const std::string& name, Duration minimumIdle);

    // Of all that were seen, each with its peer's name; the others and those not known come last
    template <typename Statistics, typename Visit>
    static void ForEachPlace(Statistics& statistics, const Visit& visit);

    const std::size_t maximumPeers_;
    const ListOpenAssociations listOpen_;
    const Now now_;
    const TimePoint start_;
    mutable std::mutex mutex_;
    std::map<std::string, Place> places_;  // by name
    Place others_;
    Place unknown_;
  };
}
