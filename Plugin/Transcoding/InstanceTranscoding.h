// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DicomFile.h"
#include "Dicom/ImageDescription.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Transcoding/TranscodingReport.h"
#include "Tuning/TuningDocument.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace OrthancPerf
{
  // What one transcoding works with
  struct TranscodingSurroundings
  {
    EngineDirectory& engines;
    ITranscodingObserver* observer;
    const IngestTranscoding& settings;
    TimePoint deadline = TimePoint::max();  // of all that is tried
  };


  // One instance on its way to another transfer syntax: engines are tried until one has done it,
  // and what they give is examined before it may replace the original. Lives on the stack of one
  // thread.
  class InstanceTranscoding
  {
  public:
    // The bytes outlive this object
    InstanceTranscoding(const TranscodingSurroundings& surroundings, const void* data,
                        std::size_t size);

    InstanceTranscoding(const InstanceTranscoding&) = delete;
    InstanceTranscoding& operator=(const InstanceTranscoding&) = delete;

    // Leaves alone what need not be transcoded, and what would stay the same instance, which the
    // store has. Of lossy compression comes another one, known only when it is done.
    Transcoding TranscodeIncoming(const std::string& target, const IsDuplicate& isDuplicate);

    // Someone wants the first of these that can be had without loss; it may be in one of them
    // already
    Transcoding TranscodeToOneOf(const std::vector<std::string>& targets);

  private:
    // A deflated file in Explicit VR Little Endian, checked once; or no bytes, and why
    struct InflatedFile
    {
      std::string bytes;
      DicomFileCheck check;
      std::string problem;
    };

    bool IsIdentified() const noexcept
    {
      return identity_.sopInstanceUid[0] != '\0';
    }

    Transcoding TranscodeTo(const std::string& target);
    Transcoding MakeUndone(TranscodingOutcome outcome, const std::string& target,
                           const std::string& reason) const;
    Transcoding Leave(TranscodingOutcome outcome, const std::string& engine,
                      const std::string& target, const std::string& reason);
    std::string FindReasonToLeaveAlone(const std::string& target) const;
    InflatedFile Inflate(std::string_view deflated) const;
    bool InflateReceived();
    std::string_view GetSource(const std::string& target) const noexcept;
    Transcoding TryEngines(const std::string& target);
    Transcoding TryNamedEngine(const std::string& name, const std::string& target);
    Transcoding TryInTurn(const std::string& target);
    Transcoding TryEngine(const ITranscodingEngine& engine, const std::string& target);
    std::string Examine(const ITranscodingEngine& engine, const std::string& target,
                        Transcoding& transcoding) const;
    std::string FindChange(const DicomFileCheck& check, const std::string& file,
                           bool isDeflated) const;
    std::string Verify(const ITranscodingEngine& engine, const std::string& target,
                       const std::string& file) const;
    std::string Derive(const std::string& target, Transcoding& transcoding) const;

    TranscodingSurroundings surroundings_;
    bool isIncoming_ = false;
    const std::string_view received_;
    ImageDescription image_;
    InstanceIdentity identity_;  // without a UID: Orthanc would not store it
    std::string inflated_;       // what was received, if that is deflated
    std::string problem_;        // why it could not be inflated
  };
}
