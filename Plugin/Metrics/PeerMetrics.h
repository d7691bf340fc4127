// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Metrics/ChildCache.h"
#include "Metrics/PeerLines.h"

#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/registry.h>

#include <vector>

namespace OrthancPerf
{
  // The orthanc_perf_peer_* and orthanc_perf_stall* families: what goes to and comes from each
  // peer. An instance of which the peer is not known is counted without the label "peer", so
  // that sums are complete. Owned by the plugin's context; any thread may call it. The number of
  // label sets is bounded by the directory.
  class PeerMetrics : public IJournalObserver, public prometheus::Collectable
  {
  public:
    // The directory must outlive the metrics
    explicit PeerMetrics(PeerDirectory& directory);

    void OnInstanceFinished(const FinishedInstance& instance) noexcept override;

    std::vector<prometheus::MetricFamily> Collect() const override;

  private:
    using Children = ChildCache<prometheus::Counter>;

    void Count(const FinishedInstance& instance);
    void CountPhases(const FinishedInstance& instance, std::size_t line);
    Children BuildFamily(const char* name, const char* help);
    Children BuildPhaseFamily();

    const PeerLines lines_;
    prometheus::Registry registry_;
    Children instances_;
    Children bytes_;
    Children stalls_;
    Children stallTime_;
    Children phaseTime_;
  };
}
