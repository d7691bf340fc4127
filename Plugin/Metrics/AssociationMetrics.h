// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Metrics/ChildCache.h"
#include "Metrics/PeerLines.h"

#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace OrthancPerf
{
  // The orthanc_perf_association* families, and what the kernel says of the connections to each
  // peer. An association of which the peer is not known is counted without the label "peer". What
  // was never observed is absent: without the socket probe, which alone sees associations, all of
  // it. Owned by the plugin's context; any thread may call it. The number of label sets is bounded
  // by the directory.
  class AssociationMetrics : public IJournalObserver, public prometheus::Collectable
  {
  public:
    // The directory must outlive the metrics. The function is called at each scrape, on its thread.
    AssociationMetrics(PeerDirectory& directory, ListOpenAssociations listOpen);

    void OnInstanceFinished(const FinishedInstance& instance) noexcept override;
    void OnAssociationFinished(const FinishedAssociation& association) noexcept override;

    std::vector<prometheus::MetricFamily> Collect() const override;

  private:
    using Counters = ChildCache<prometheus::Counter>;
    using Histograms = ChildCache<prometheus::Histogram>;

    // What the gauges of one line show
    struct State
    {
      std::size_t open = 0;
      std::optional<TcpSummary> tcp;  // of the latest association that had it
    };

    using States = std::map<std::size_t, State>;

    void Count(const FinishedAssociation& association);
    void CountTcp(const TcpSummary& tcp, std::size_t line);
    void Remember(const FinishedAssociation& association, std::size_t line);
    States GetStates() const;
    prometheus::MetricFamily DescribeOpen(const States& states) const;
    std::vector<prometheus::MetricFamily> DescribeTcp(const States& states) const;
    Counters BuildOutcomes();
    Histograms BuildSetup();
    Counters BuildCounters(const char* name, const char* help);

    const PeerLines lines_;
    const ListOpenAssociations listOpen_;
    prometheus::Registry registry_;
    Counters outcomes_;
    Histograms setup_;
    Counters receiveWindowLimited_;
    Counters sendBufferLimited_;
    Counters retransmits_;
    mutable std::mutex mutex_;
    mutable States states_;  // of the lines that have had an association, with none open
  };
}
