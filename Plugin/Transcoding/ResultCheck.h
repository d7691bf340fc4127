// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ReceivedFile.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Transcoding/TranscodingReport.h"
#include "Tuning/TuningDocument.h"

#include <string>

namespace OrthancPerf
{
  // One instance on its way to another transfer syntax. All that it refers to outlives it.
  struct TranscodingTask
  {
    EngineDirectory& engines;
    const IngestTranscoding& settings;
    const ReceivedFile& source;
    TimePoint deadline;       // of all that is tried
    bool isIncoming = false;  // into the store, where the result replaces the source
  };

  // Makes what "engine" wrote, result.file, ready to replace the source. Orthanc must read the same
  // instance and image in it. Its pixels are verified if the settings say so. A lossy derivation is
  // described as one.
  //
  // Returns why the file cannot be used; empty: it can. Then it fills in the identity. The report's
  // outcome becomes Declined where the engine did its work, and the result does not fit.
  std::string CheckResult(const TranscodingTask& task, const ITranscodingEngine& engine,
                          const std::string& target, Transcoding& result);
}
