// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ReceivedFile.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Transcoding/TranscodingReport.h"
#include "Tuning/TuningDocument.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // All engines. "folder" is where the programs of the engines are: beside the plugin. An engine
  // whose program is not there says so by GetProblem().
  Engines MakeEngines(const std::filesystem::path& folder);

  // Transcodes instances as the tuning says: decides whether an instance needs it, tries engines,
  // verifies the result, describes lossy derivations, and reports to the observer. Any problem ends
  // as a report with a reason, and the instance stays what it was.
  //
  // Owned by the plugin's context. Any thread may call anything. Calls that have begun
  // keep the settings that they began with.
  class Transcoder
  {
  public:
    // All outlive the transcoder. "patience": how long an instance may take, whatever is tried in
    // it, and another second for each MiB of it.
    Transcoder(EngineDirectory& engines, ITranscodingObserver* observer,
               std::chrono::milliseconds patience = std::chrono::seconds(30));

    void SetSettings(const IngestTranscoding& settings);

    std::shared_ptr<const IngestTranscoding> GetSettings() const noexcept;

    // An instance on its way into the store. Lossy targets give it a new SOP Instance UID.
    // "isDuplicate": whether the store has it and will refuse another; asked only of an instance
    // that would be transcoded, and stay the same one. Must not throw.
    Transcoding TranscodeIncoming(const ReceivedFile& file,
                                  const IsDuplicate& isDuplicate = {}) noexcept;

    // What Orthanc asks for: the first lossless one of these transfer syntaxes (UIDs) that can be
    // had. Unneeded: the source is in one of them, and serves as it is. Lossy ones are declined, as
    // Orthanc does not tell a transcoder which quality it was asked for.
    Transcoding TranscodeTo(const ReceivedFile& file,
                            const std::vector<std::string>& syntaxes) noexcept;

  private:
    template <typename Work>
    Transcoding Run(const ReceivedFile& file, const Work& work) noexcept;

    EngineDirectory& engines_;
    ITranscodingObserver* const observer_;
    const std::chrono::milliseconds patience_;
    mutable std::mutex mutex_;
    std::shared_ptr<const IngestTranscoding> settings_;
  };
}
