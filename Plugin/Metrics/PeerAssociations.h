// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Metrics/BucketHistogram.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

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
}
