// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/EngineFailures.h"

#include "Dicom/TransferSyntax.h"
#include "Ingest/FinishedInstance.h"

#include <exception>
#include <regex>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // "frame 17 of 30" and "frame 3 of 30" are one kind
    std::string WithoutNumbers(const std::string& reason)
    {
      static const std::regex NUMBER("[0-9]+");
      return std::regex_replace(reason, NUMBER, "#");
    }


    // Under "auto" the reason has the name of each engine that was tried
    std::string NameDecliningEngine(const TranscodingReport& report)
    {
      const bool isNamed =
          report.engine.empty() || report.reason.find(report.engine + ": ") != std::string::npos;
      return isNamed ? "" : " by the engine \"" + report.engine + "\"";
    }


    std::string Describe(const TranscodingReport& report)
    {
      const std::string target = GetSyntaxName(report.target);
      const std::string reason = report.reason.substr(0, MAXIMUM_TRANSCODING_REASON);
      return report.outcome == TranscodingOutcome::Declined
                 ? "an instance cannot be transcoded to " + target + NameDecliningEngine(report) +
                       ": " + reason
                 : "the engine \"" + report.engine + "\" failed to transcode an instance to " +
                       target + ": " + reason;
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
        failures_[kind] = {report.engine, report.target, reason, 1};
        lock.unlock();
        log_(Describe(report));
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
