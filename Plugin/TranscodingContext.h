// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/InstanceTracker.h"
#include "Metrics/TranscodingMetrics.h"
#include "Redirection/PluginLock.h"
#include "Rest/Resources.h"
#include "Sdk/Orthanc.h"
#include "Transcoding/EngineFailures.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Transcoding/Transcoder.h"

#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // All that transcodes: the engines and their self-test, the transcoder, and who is told of it.
  // Owned by the plugin's context. Orthanc's callbacks call the Transcode... functions on any
  // thread, several at once.
  class TranscodingContext : private ITranscodingObserver
  {
  public:
    using Warn = std::function<void(const std::string&)>;

    // The types of Orthanc's jobs that are under way, such as "MergeStudy", as of a moment after
    // the call. Nothing: Orthanc does not say so soon. Does not wait for the lock of Orthanc's jobs
    // itself: Orthanc may hold it while it waits for the caller, where a job is deleted while its
    // threads are still at work (JobsRegistry, 1.10.1 to 1.13.0).
    using ListJobTypes = std::function<std::optional<std::set<std::string>>()>;

    // Begins the self-test of the engines, in the background. The tracker outlives this
    // object, and is told of every attempt of an engine.
    // "mayRedirect": whether libc calls may be redirected, without which Orthanc's plugin lock
    // cannot be found.
    TranscodingContext(const Orthanc& orthanc, InstanceTracker& tracker, ListJobTypes listJobTypes,
                       const Json::Value& orthancConfiguration, bool mayRedirect, Warn warn);

    // Orthanc is up: logs which engines and transfer syntaxes there are not, and what the tuning
    // does, once that is known, in the background. "problem": why the received-instance
    // callback does not call TranscodeReceived; empty: it does.
    void Start(const std::string& problem);

    // Once Orthanc has closed its servers, or is about to end
    ~TranscodingContext() override;

    // Orthanc is about to close its servers, which takes in images until then. Once a call of an
    // engine has taken two seconds of this, Tidy() takes it for one that hangs, and ends it.
    void Stop()
    {
      stoppedAt_ = Clock::now();
    }

    // Twice a second, until this is destroyed
    void Tidy() noexcept;

    void SetSettings(const IngestTranscoding& settings);

    // Throws SettingError if the engines there are cannot do that. Waits for their self-test.
    void Check(const IngestTranscoding& settings) const;

    // In the received-instance callback: whether another file is to be stored instead, which is in
    // "replacement" then. Others may enter Orthanc's plugins meanwhile.
    bool TranscodeReceived(Origin origin, const ReceivedFile& file,
                           OrthancPluginMemoryBuffer64& replacement);

    // In the transcoder callback: whether the file in one of these transfer syntaxes is in "target"
    // then; else Orthanc is to do it by other means
    bool TranscodeFor(const void* data, std::size_t size, const std::vector<std::string>& syntaxes,
                      OrthancPluginMemoryBuffer& target);

    // What of "IngestTranscoding" is in effect, for /perf/status
    TranscodingSources GetSources() const;

    // Returns once it is known what the engines can do
    void WaitForSelfTest() const
    {
      selfTest_.wait();
    }

    EngineDirectory& GetEngines()
    {
      return engines_;
    }

    const TranscodingMetrics& GetMetrics() const
    {
      return metrics_;
    }

  private:
    void OnTranscoding(const TranscodingReport& report) noexcept override;
    void FindLock(bool mayRedirect);
    bool IsOfJob(Origin origin);
    bool IsStored(const InstanceIdentity& instance) noexcept;
    bool IsTested() const;
    std::string GetProblem() const;
    std::string FindMissingEngine(const IngestTranscoding& settings) const;
    void ReportEffect(const IngestTranscoding& settings) const;
    void ReportEngines();
    template <typename Buffer>
    bool HandOver(Transcoding& transcoding, Buffer& target);

    const Orthanc orthanc_;
    InstanceTracker& tracker_;
    const ListJobTypes listJobTypes_;
    const Warn warn_;
    std::string problem_;  // why received instances are not transcoded; constant since Start
    PluginLock lock_;
    TranscodingMetrics metrics_;
    EngineFailures failures_;
    const IsDuplicate isDuplicate_;  // nothing: Orthanc takes what it has already
    std::atomic<TimePoint> noQuestionBefore_{TimePoint::min()};  // for a duplicate
    EngineDirectory engines_;
    Transcoder transcoder_;
    std::atomic<bool> isStarted_{false};
    std::atomic<TimePoint> stoppedAt_{TimePoint::max()};
    std::mutex reporting_;
    bool isReported_ = false;  // under reporting_: from then on, SetSettings reports its effect
    std::shared_future<void> selfTest_;
    std::future<void> report_;
  };
}
