// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ReceivedFile.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Transcoding/TranscodingReport.h"
#include "Tuning/TuningDocument.h"

#include <optional>
#include <string>
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
    // The file outlives this object
    InstanceTranscoding(const TranscodingSurroundings& surroundings, const ReceivedFile& file);

    InstanceTranscoding(const InstanceTranscoding&) = delete;
    InstanceTranscoding& operator=(const InstanceTranscoding&) = delete;

    // Leaves alone what need not be transcoded, and what would stay the same instance, which the
    // store has. Of lossy compression comes another one, known only when it is done.
    Transcoding TranscodeIncoming(const std::string& target, const IsDuplicate& isDuplicate);

    // Someone wants the first of these that can be had without loss; it may be in one of them
    // already
    Transcoding TranscodeToOneOf(const std::vector<std::string>& targets);

  private:
    // What was received, or what it is once it is inflated
    const ReceivedFile& GetFile() const noexcept
    {
      return inflated_.has_value() ? *inflated_ : received_;
    }

    const ReceivedFile& GetSource(const std::string& target) const noexcept;
    std::string FindObstacle(const std::string& target) const;
    Transcoding TranscodeTo(const std::string& target);
    Transcoding MakeUndone(TranscodingOutcome outcome, const std::string& target,
                           const std::string& reason) const;
    Transcoding Leave(TranscodingOutcome outcome, const std::string& engine,
                      const std::string& target, const std::string& reason);
    std::string FindReasonToLeaveAlone(const std::string& target) const;
    EngineResult Inflate(std::string_view deflated) const;
    bool InflateReceived();
    Transcoding TryEngines(const std::string& target);
    Transcoding TryNamedEngine(const std::string& name, const std::string& target);
    Transcoding TryInTurn(const std::string& target);
    Transcoding TryEngine(const ITranscodingEngine& engine, const std::string& target);
    std::string Examine(const ITranscodingEngine& engine, const std::string& target,
                        Transcoding& transcoding) const;
    std::string FindChange(const ReceivedFile& file) const;
    std::string Verify(const ITranscodingEngine& engine, const std::string& target,
                       const ReceivedFile& file) const;
    std::string Derive(const std::string& target, const ReceivedFile& file,
                       Transcoding& transcoding) const;

    TranscodingSurroundings surroundings_;
    bool isIncoming_ = false;
    const ReceivedFile& received_;
    std::string inflatedBytes_;
    std::optional<ReceivedFile> inflated_;  // what was received, if that is deflated
    std::string problem_;                   // why it could not be inflated
  };
}
