// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Ingest/Journal.h"
#include "Metrics/BucketHistogram.h"
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
  inline constexpr std::array<double, 0> NO_BOUNDS = {};

  // How long something took, in one association after the other. In seconds.
  struct TimeSummary : BucketHistogram<NO_BOUNDS>
  {
    double latest = 0;

    void Add(const std::optional<Duration>& duration)
    {
      if (duration)
      {
        latest = std::max(ToSeconds(*duration), 0.0);
        BucketHistogram::Add(latest);
      }
    }
  };

  // The associations with one peer in one direction since Orthanc started: totals of those that
  // are over, and what the latest said. A value of some 400 bytes; not thread-safe.
  struct PeerAssociations
  {
    std::array<std::uint64_t, ASSOCIATION_OUTCOME_COUNT> outcomes = {};
    std::optional<std::uint64_t> open;  // now; nothing: not known
    std::uint64_t instances = 0;        // over those that are over
    std::uint64_t bytes = 0;            // of all that came (sent: went) over these connections
    TimeSummary setup;
    TimeSummary connect;            // of outgoing ones
    AssociationParties parties;     // of the latest that could be read
    std::optional<TcpSummary> tcp;  // of the latest that had it
    std::string rejection;          // of the latest that was rejected: why

    // What the kernel said of those that are over, as far as it did
    std::optional<std::uint64_t> retransmits;  // segments
    std::optional<Duration> receiveWindowLimited;
    std::optional<Duration> sendBufferLimited;

    void Add(const FinishedAssociation& association);

    // To be added the oldest first: the latest is the youngest
    void Add(const OpenAssociation& association);

    // Keeps what is known if the association could not be read: no request came, or TLS hides all
    // but what Orthanc says of an instance, the calling title
    void Update(const AssociationParties& latest);

    std::uint64_t GetCount(AssociationOutcome outcome) const
    {
      return outcomes[static_cast<std::size_t>(outcome)];
    }

    bool IsAny() const;

    // Those over which instances could go: accepted by the other side
    std::uint64_t CountEstablished() const;
  };

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

    // Each place with its peer's name; the others and those not known come last
    template <typename Statistics, typename Visit>
    static void ForEachPlace(Statistics& statistics, const Visit& visit);

    const std::size_t maximumPeers_;
    const ListOpenAssociations listOpen_;
    const Now now_;
    mutable std::mutex mutex_;
    TimePoint start_;  // of the rates of a peer that comes; guarded by the mutex
    std::map<std::string, Place> places_;  // by name
    Place others_;
    Place unknown_;
  };
}
