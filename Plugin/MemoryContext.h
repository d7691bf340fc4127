// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/MemoryWatch.h"
#include "Network/DicomTuner.h"
#include "Sdk/Orthanc.h"
#include "Sdk/ServerConfiguration.h"
#include "Tuning/TuningDocument.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // The budget of what arrives, as far as Orthanc's callbacks have a part in it. Owned by the
  // plugin's context. Orthanc's callbacks call the On... functions and MayUpload on any thread,
  // several at once.
  class MemoryContext
  {
  public:
    using Warn = std::function<void(const std::string&)>;

    // Tuner and recorder outlive this object. "filterUpload", which calls MayUpload, is registered
    // once there is a budget.
    MemoryContext(const Orthanc& orthanc, DicomTuner& tuner, const MessageRecorder& recorder,
                  const ServerConfiguration& server,
                  OrthancPluginIncomingHttpRequestFilter2 filterUpload, Warn warn);

    // Orthanc is up
    void Start();

    // Nobody waits from now on
    void Stop() noexcept;

    // Changes come one after the other
    void SetSettings(const MemoryTuning& settings);

    // The calling thread is about to serve an HTTP request
    void OnServed() const noexcept;

    // The HTTP request on this thread was let in, and its body, whose length may not be known, is
    // about to be read: waits where there is a budget. False: nobody wants an answer any more.
    bool MayUpload(std::optional<std::uint64_t> length) const noexcept;

    // The calling thread has an instance of this size in memory, and has stored it
    void OnInstanceReceived(std::uint64_t size) const noexcept;
    void OnInstanceStored() const noexcept;

    BudgetFigures GetFigures() const noexcept;

    // What memory has lately been short of; "received": EvidenceCollector::GetSecondsReceived.
    // Housekeeping's, at least once in MemoryWatch::PERIOD.
    MemoryEvidence Look(double received);

  private:
    const IngestBudget& GetBudget() const noexcept;
    void RegisterUploadFilter();

    const Orthanc orthanc_;
    DicomTuner& tuner_;
    const MessageRecorder& recorder_;
    const OrthancPluginIncomingHttpRequestFilter2 filterUpload_;
    const Warn warn_;
    std::once_flag isUploadFilterRegistered_;
    std::atomic<bool> isStarted_ = false;
    bool isShareUnknown_ = false;  // of the memory, and the log has it
    MemoryWatch watch_;
  };
}
