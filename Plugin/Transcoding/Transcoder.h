// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/EngineDirectory.h"
#include "Transcoding/TranscodingEngine.h"
#include "Tuning/TuningDocument.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // What was done to one instance, for metrics, /perf/instances and the log. A value; no patient
  // data.
  struct TranscodingReport
  {
    enum class Outcome
    {
      Transcoded,
      Unneeded,  // in the target already, no pixel data, video: left alone
      Declined,  // no engine covers it: left as it was
      Failed     // stored as received
    };

    Outcome outcome = Outcome::Unneeded;
    std::string engine;  // the one that did it, or tried last; empty: none was tried
    std::string target;  // transfer syntax UID
    std::string reason;  // why it was left as it was; empty if transcoded
    std::chrono::nanoseconds duration{0};  // of the engine's work, Verify not included
    std::chrono::nanoseconds verification{0};
    std::size_t sourceSize = 0;  // bytes
    std::size_t targetSize = 0;  // bytes; zero unless transcoded
  };

  const char* ToLabel(TranscodingReport::Outcome outcome);  // "transcoded", "unneeded", ...


  // Told of each attempt of an engine, on the thread that transcoded, in microseconds: under "auto"
  // there may be several for one instance, of which only the last is its report. Where no engine
  // could be tried, it is told once, with an empty engine. Unneeded transcodings are none.
  class ITranscodingObserver
  {
  public:
    virtual ~ITranscodingObserver() = default;

    virtual void OnTranscoding(const TranscodingReport& report) noexcept = 0;
  };


  // The report, and the new file if there is one
  struct Transcoding
  {
    TranscodingReport report;
    std::string file;  // empty unless the outcome is Transcoded
  };


  // Transcodes instances with the engine and in the way that the tuning asks for: decides whether
  // an instance needs it, picks the engine (AutoEngine for "auto"), verifies where that is asked
  // for, describes lossy derivations, and tells the observer. Whatever goes wrong, the answer is a
  // report that says so, and the instance stays what it was.
  //
  // Owned by the plugin's context. Any thread may call anything; work under way when the settings
  // change is finished with the old ones.
  class Transcoder
  {
  public:
    // All outlive the transcoder
    Transcoder(EngineDirectory& engines, ITranscodingObserver* observer);

    void SetSettings(const IngestTranscoding& settings);

    // Whether incoming instances are to be transcoded at all
    bool IsIngestTranscoding() const noexcept;

    // An instance on its way into the store. Lossy targets give it a new SOP Instance UID.
    Transcoding TranscodeIncoming(const void* data, std::size_t size) noexcept;

    // What Orthanc asks for: any one of these transfer syntaxes (UIDs), the lossless ones first,
    // else in the order given. Unneeded: the source is in one of them, and serves as it is. Without
    // "allowNewSopInstanceUid" lossy ones are declined, as they need a new identity.
    Transcoding TranscodeTo(const void* data, std::size_t size,
                            const std::vector<std::string>& syntaxes,
                            bool allowNewSopInstanceUid) noexcept;

  private:
    std::shared_ptr<const IngestTranscoding> GetSettings() const noexcept;
    Transcoding Transcode(const void* data, std::size_t size, const std::string& target,
                          const IngestTranscoding& settings);
    std::vector<const ITranscodingEngine*> FindEngines(const std::string& target,
                                                       EngineChoice choice) const;

    EngineDirectory& engines_;
    ITranscodingObserver* const observer_;
    mutable std::mutex mutex_;
    std::shared_ptr<const IngestTranscoding> settings_;
  };
}
