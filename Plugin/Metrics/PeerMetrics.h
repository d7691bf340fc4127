// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Metrics/ChildCache.h"
#include "Metrics/MetricSource.h"
#include "Metrics/PeerStatistics.h"

#include <prometheus/registry.h>


namespace OrthancPerf
{
  // The orthanc_perf_peer_*, orthanc_perf_stall* and orthanc_perf_association* families: what the
  // statistics know of each peer at a scrape, and how long associations took to be answered. What
  // came from a peer that is not known has no label "peer", so that sums are complete; what was
  // never observed is absent, as are stalls and associations without the socket probe. Owned by the
  // plugin's context; any thread may call it. The number of label sets is bounded by the directory.
  class PeerMetrics : public IJournalObserver, public IMetricSource
  {
  public:
    // The statistics must outlive the metrics
    explicit PeerMetrics(const PeerStatistics& statistics);

    void OnAssociationFinished(const FinishedAssociation& association) override;

    void Collect(const Receive& receive) const override;

  private:
    const PeerStatistics& statistics_;
    prometheus::Registry registry_;
    ChildCache<prometheus::Histogram> setup_;
  };
}
