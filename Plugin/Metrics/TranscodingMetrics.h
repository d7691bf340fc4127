// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/BucketHistogram.h"
#include "Transcoding/Transcoder.h"
#include "Tuning/TuningDocument.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Seconds: from a small image with RLE, to hundreds of frames with JPEG 2000
  inline constexpr std::array TRANSCODING_BOUNDS = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                    0.05,   0.1,   0.25,   0.5,   1.0,  2.5,
                                                    5.0,    10.0,  30.0,   60.0};

  // What one engine did for one target since the start. Time and bytes are those of the attempts
  // that succeeded, and do not include "Verify".
  struct EngineAttempts
  {
    std::string engine;  // one of the plugin's, or "none" where none could be tried
    std::string target;  // Orthanc's name of a transfer syntax that can be written, or "other"
    std::array<std::optional<std::uint64_t>, LABELS<TranscodingOutcome>.size()> outcomes;
    BucketHistogram<TRANSCODING_BOUNDS> seconds;
    std::uint64_t sourceBytes = 0;
    std::uint64_t targetBytes = 0;
  };

  // Counts every attempt of an engine on an instance on its way; comparisons would spoil its
  // figures, and are left out. Owned by the plugin's context; any
  // thread may call it. Its lines are bounded: one for each engine and target.
  class TranscodingMetrics : public ITranscodingObserver
  {
  public:
    TranscodingMetrics();

    void OnTranscoding(const TranscodingReport& report) noexcept override;

    // Instances are about to be transcoded by these settings: what fails is counted from zero on,
    // as nobody sees the rise of a counter that begins with the first failures
    void Expect(const IngestTranscoding& settings);

    std::vector<EngineAttempts> GetTotals() const;

  private:
    mutable std::mutex mutex_;
    std::vector<EngineAttempts> lines_;  // each engine's targets one after the other
  };
}
