// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/EngineFailures.h"

#include "Dicom/TransferSyntax.h"
#include "Ingest/FinishedInstance.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // "frame 17 of 30" and "frame 3 of 30" are one kind
    std::string WithoutNumbers(std::string reason)
    {
      reason.erase(std::remove_if(reason.begin(), reason.end(),
                                  [](char byte) { return byte >= '0' && byte <= '9'; }),
                   reason.end());
      return reason;
    }

    std::string Describe(const TranscodingReport& report, const EngineFailure& failure)
    {
      const std::string end = " to " + GetSyntaxName(failure.target);
      const std::string engine = "the engine \"" + failure.engine + "\"";

      if (report.outcome == TranscodingOutcome::Failed)
      {
        return (failure.engine.empty() ? "an instance was not transcoded"
                                       : engine + " failed to transcode an instance" + end) +
               ": " + failure.reason;
      }

      // Under "auto" the reason has the name of each engine that was tried
      const bool isNamed =
          failure.engine.empty() || report.reason.find(failure.engine + ": ") != std::string::npos;
      return "an instance cannot be transcoded" + end + (isNamed ? "" : " by " + engine) + ": " +
             failure.reason;
    }
  }

  EngineFailures::EngineFailures(Log log) : log_(std::move(log))
  {
  }

  void EngineFailures::OnTranscoding(const TranscodingReport& report) noexcept
  {
    if (report.outcome == TranscodingOutcome::Failed)
    {
      Report(report);
    }
  }

  void EngineFailures::OnEnd(const TranscodingReport& report) noexcept
  {
    if (report.outcome == TranscodingOutcome::Declined && !report.isLarger &&
        !report.target.empty())
    {
      Report(report);
    }
  }

  void EngineFailures::Report(const TranscodingReport& report) noexcept
  {
    try
    {
      const std::string reason = report.reason.substr(0, MAXIMUM_TRANSCODING_REASON);
      const Kind kind{report.engine, report.target, WithoutNumbers(reason)};
      std::unique_lock<std::mutex> lock(mutex_);
      const auto known = failures_.find(kind);

      if (known != failures_.end())
      {
        known->second.count++;
      }
      else if (failures_.size() < MAXIMUM_KINDS)
      {
        const EngineFailure failure = {report.engine, report.target, reason, 1};
        failures_[kind] = failure;
        lock.unlock();
        log_(Describe(report, failure));
      }
    }
    catch (const std::exception&)
    {
      // Out of memory: the metrics count it all the same
    }
  }

  std::vector<EngineFailure> EngineFailures::Get() const
  {
    std::vector<EngineFailure> failures;
    const std::lock_guard<std::mutex> lock(mutex_);

    for (const auto& [kind, failure] : failures_)
    {
      failures.push_back(failure);
    }

    return failures;
  }
}
