// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // How long something took, in one association after the other. A value; not thread-safe.
  struct TimeSummary
  {
    std::uint64_t count = 0;
    Duration total = Duration::zero();
    Duration latest = Duration::zero();
    Duration maximum = Duration::zero();

    // Nothing adds nothing; a negative duration counts as zero
    void Add(const std::optional<Duration>& duration);

    // Zero if there is none
    Duration GetMean() const;
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

    std::uint64_t GetCount(AssociationOutcome outcome) const
    {
      return outcomes[static_cast<std::size_t>(outcome)];
    }

    // Whether there is any, over or open
    bool IsAny() const;

    // Those over which instances could go: accepted by the other side
    std::uint64_t CountEstablished() const;
  };
}
