// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Metrics/ChildCache.h"

#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <functional>
#include <vector>

namespace OrthancPerf
{
  // The orthanc_perf_ingest_* families: what Orthanc receives, by origin. What Orthanc sends is
  // not ingest and is left out. Owned by the plugin's context; any thread may call it. Counting
  // takes about a microsecond and allocates only when an origin or a phase is new.
  class IngestMetrics : public IJournalObserver, public prometheus::Collectable
  {
  public:
    // The instances of this origin that are being ingested right now. Called at each scrape, on
    // its thread.
    using CountInFlight = std::function<std::size_t(Origin)>;

    explicit IngestMetrics(CountInFlight countInFlight);

    void OnInstanceFinished(const FinishedInstance& instance) noexcept override;

    std::vector<prometheus::MetricFamily> Collect() const override;

  private:
    void AddCounters();
    void AddInFlight();
    void ObservePhases(const FinishedInstance& instance);

    const CountInFlight countInFlight_;
    prometheus::Registry registry_;
    std::array<std::array<prometheus::Counter*, OUTCOME_COUNT>, ORIGIN_COUNT> instances_ = {};
    std::array<prometheus::Counter*, ORIGIN_COUNT> bytes_ = {};
    std::array<prometheus::Gauge*, ORIGIN_COUNT> inFlight_ = {};
    prometheus::Family<prometheus::Histogram>& phaseFamily_;
    ChildCache<prometheus::Histogram> phases_;
  };
}
