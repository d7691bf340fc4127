// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/ChildCache.h"
#include "Transcoding/Transcoder.h"

#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <vector>

namespace OrthancPerf
{
  // The orthanc_perf_transcode* families: every attempt of an engine, whoever asked for it. Time
  // and bytes are those of the attempts that succeeded, and do not include "Verify". Owned by the
  // plugin's context; any thread may call it. The label sets are bounded: "engine" is one of the
  // plugin's, or "none" where none could be tried; "target" is Orthanc's name of a transfer syntax
  // that can be written.
  class TranscodingMetrics : public ITranscodingObserver, public prometheus::Collectable
  {
  public:
    TranscodingMetrics();

    void OnTranscoding(const TranscodingReport& report) noexcept override;

    std::vector<prometheus::MetricFamily> Collect() const override;

  private:
    using Counters = ChildCache<prometheus::Counter>;
    using Histograms = ChildCache<prometheus::Histogram>;

    Histograms BuildSeconds();
    Counters BuildTotal();
    Counters BuildBytes();
    void Count(const TranscodingReport& report);

    prometheus::Registry registry_;
    Histograms seconds_;
    Counters total_;
    Counters bytes_;
  };
}
