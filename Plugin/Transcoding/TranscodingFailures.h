// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Transcoder.h"

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
  struct TranscodingFailure
  {
    std::string engine;  // empty: there was none to try
    std::string target;  // transfer syntax UID
    std::string reason;  // of the first one
    std::uint64_t count = 0;
  };


  // What engines failed at, by kind, for /perf/status and the log, which has one line for each
  // kind, not one for each instance. What an engine declines is no failure, but for what none of
  // them could be asked. Owned by the plugin's context; any thread may call it. Memory: at most
  // MAXIMUM_KINDS; what is beyond is neither told nor logged, but counted in the metrics.
  class TranscodingFailures : public ITranscodingObserver
  {
  public:
    static constexpr std::size_t MAXIMUM_KINDS = 100;

    // Called with a sentence for each new kind, on the thread that transcodes
    using Log = std::function<void(const std::string& line)>;

    explicit TranscodingFailures(Log log);

    void OnTranscoding(const TranscodingReport& report) noexcept override;

    std::vector<TranscodingFailure> Get() const;

  private:
    // Engine, target, reason without its numbers
    using Kind = std::tuple<std::string, std::string, std::string>;

    bool Add(const TranscodingReport& report);

    const Log log_;
    mutable std::mutex mutex_;
    std::map<Kind, TranscodingFailure> failures_;
  };
}
