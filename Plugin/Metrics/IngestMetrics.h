// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Metrics/ChildCache.h"
#include "Metrics/MetricSource.h"

#include <prometheus/registry.h>

#include <functional>

namespace OrthancPerf
{
  // The orthanc_perf_ingest_* families: what Orthanc receives, by origin. What Orthanc sends is
  // not ingest and is left out. Owned by the plugin's context; any thread may call it. Counting
  // takes about a microsecond and allocates only when an origin or a phase is new.
  class IngestMetrics : public IJournalObserver, public IMetricSource
  {
  public:
    // The instances of this origin that are being ingested right now. Called at each scrape, on
    // its thread.
    using CountInFlight = std::function<std::size_t(Origin)>;

    explicit IngestMetrics(CountInFlight countInFlight);

    void OnInstanceFinished(const FinishedInstance& instance) override;

    void Collect(const Receive& receive) const override;

    // Over all origins, since the start
    double CountInstances(Outcome outcome) const;
    double CountBytes() const;
    double CountAllInFlight() const;

  private:
    const CountInFlight countInFlight_;
    prometheus::Registry registry_;
    ChildCache<prometheus::Counter> instances_;
    ChildCache<prometheus::Counter> bytes_;
    ChildCache<prometheus::Histogram> phases_;
    ChildCache<prometheus::Counter> remoteRoundTrips_;
    ChildCache<prometheus::Counter> databaseRoundTrips_;
    ChildCache<prometheus::Counter> databaseQueued_;
  };
}
