// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/InstanceIdentity.h"
#include "Transcoding/Engines/TranscodingEngine.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace OrthancPerf
{
  // What was done to one instance, for metrics, /perf/instances and the log. A value; no patient
  // data.
  struct TranscodingReport
  {
    // Unneeded: in the target or compressed already, no pixel data, video, not DICOM: left alone
    TranscodingOutcome outcome = TranscodingOutcome::Unneeded;
    std::string engine;        // the one that did it, or tried last; empty: none was tried
    std::string target;        // transfer syntax UID
    std::string reason;        // why it was left as it was; empty if transcoded
    bool isLarger = false;     // declined, as what the engine wrote is larger than what came
    bool isOutOfTime = false;  // not done, and no time was left for another engine
    // Of the engines' work, failed attempts included, Verify not
    std::chrono::nanoseconds duration{0};
    std::chrono::nanoseconds verification{0};
    std::size_t sourceSize = 0;  // bytes
    std::size_t targetSize = 0;  // bytes; zero unless transcoded

    // The engine has done its work, and others would hardly do it better
    bool IsDone() const noexcept
    {
      return outcome == TranscodingOutcome::Transcoded || isLarger;
    }
  };

  // Gets a report of each attempt of an engine, on the thread that transcodes; takes microseconds.
  // Under "auto" an instance may have several attempts, each with its own duration. If no engine
  // was tried, or the instance is a duplicate, there is one report. Unneeded transcodings have
  // none.
  class ITranscodingObserver
  {
  public:
    virtual ~ITranscodingObserver() = default;

    virtual void OnTranscoding(const TranscodingReport& report) noexcept = 0;
  };

  // Whether the store has this instance, and will not take another. Must not throw.
  using IsDuplicate = std::function<bool(const InstanceIdentity& instance)>;

  // The report, and the new file if there is one
  struct Transcoding
  {
    TranscodingReport report;
    std::string file;           // empty unless the outcome is Transcoded
    InstanceIdentity identity;  // of the file

    // The file cannot be used: the instance stays what it was
    void Fail(const std::string& reason)
    {
      report.outcome = TranscodingOutcome::Failed;
      report.reason = reason;
      report.targetSize = 0;
      file.clear();
    }
  };
}
