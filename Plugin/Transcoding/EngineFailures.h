// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/TranscodingReport.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace OrthancPerf
{
  // One kind of failure: the engine and the target, and why, where numbers do not make a
  // difference
  struct EngineFailure
  {
    std::string engine;  // the one that failed, or declined last; empty: there was none to try
    std::string target;  // transfer syntax UID
    std::string reason;  // of the first one
    std::uint64_t count = 0;
  };

  // What engines failed at, and the images that no engine covers, by kind, for /perf/status and the
  // log, which has one line for each kind, not one for each instance. What one engine declines is
  // no failure as long as another one does it, nor is a result that is larger than what came. Owned
  // by the plugin's context; any thread may call it. Memory: at most MAXIMUM_KINDS; what is beyond
  // is neither reported nor logged, but counted in the metrics.
  class EngineFailures : public ITranscodingObserver
  {
  public:
    static constexpr std::size_t MAXIMUM_KINDS = 100;

    // Called with a sentence for each new kind, on the thread that transcodes
    using Log = std::function<void(const std::string& line)>;

    explicit EngineFailures(Log log);

    // An attempt of an engine
    void OnTranscoding(const TranscodingReport& report) noexcept override;

    // What became of an instance in the end
    void OnEnd(const TranscodingReport& report) noexcept;

    std::vector<EngineFailure> Get() const;

  private:
    // Engine, target, reason without its numbers
    using Kind = std::tuple<std::string, std::string, std::string>;

    void Report(const TranscodingReport& report) noexcept;

    const Log log_;
    mutable std::mutex mutex_;
    std::map<Kind, EngineFailure> failures_;
  };
}
