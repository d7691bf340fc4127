// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/ChildCache.h"
#include "Metrics/MetricSource.h"
#include "Transcoding/Transcoder.h"
#include "Tuning/TuningDocument.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <string>

namespace OrthancPerf
{
  // Three families, "_seconds", "_total" and "_bytes_total": every attempt of an engine. Those of
  // "orthanc_perf_transcode" are of instances on their way, those of "orthanc_perf_comparison" of
  // comparisons, which would spoil the others' figures. Time and bytes are those of the attempts
  // that succeeded, and do not include "Verify". Owned by the plugin's context; any thread may call
  // it. The label sets are bounded: "engine" is one of the plugin's, or "none" where none could be
  // tried; "target" is Orthanc's name of a transfer syntax that can be written.
  class TranscodingMetrics : public ITranscodingObserver, public IMetricSource
  {
  public:
    // What the families' names begin with
    explicit TranscodingMetrics(const std::string& prefix = "orthanc_perf_transcode");

    void OnTranscoding(const TranscodingReport& report) noexcept override;

    // Instances are about to be transcoded by these settings: what fails is counted from zero on,
    // as nobody sees the rise of a counter that begins with the first failures
    void Expect(const IngestTranscoding& settings);

    void Collect(const Receive& receive) const override;

  private:
    void Count(const TranscodingReport& report);
    prometheus::Counter& GetTotal(std::size_t line, TranscodingOutcome outcome) const;

    prometheus::Registry registry_;
    ChildCache<prometheus::Histogram> seconds_;
    ChildCache<prometheus::Counter> total_;
    ChildCache<prometheus::Counter> bytes_;
  };
}
