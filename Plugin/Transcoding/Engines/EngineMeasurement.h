// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Transcoding/PixelComparison.h"
#include "Transcoding/TranscodingReport.h"

#include <cstddef>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // What an engine made of one uncompressed instance. A value; no patient data.
  struct EngineMeasurement
  {
    // What the engine did, or why it was not asked: then there is no source size. The reason may
    // also be why its pixels could not be compared.
    TranscodingReport report;

    // The engine itself, or the first that can decode where the engine only encodes; empty: none
    std::string decoder;
    Duration decoding{0};

    // The decoded pixels against those that were encoded
    PixelComparison::Verdict pixels = PixelComparison::Verdict::Incomparable;
    std::optional<PixelError> error;  // nothing if they can't be compared
  };


  // The file in Explicit VR Little Endian, made by the first engine that can; the file itself if it
  // is in that syntax already. Never throws but for lack of memory.
  EngineResult UncompressStored(const EngineDirectory& engines, const std::string& file);

  // Lets an engine encode a file that is in Explicit VR Little Endian, decodes the result, and
  // compares the pixels. On the caller's thread; holds up to three files in memory, beside what the
  // engine takes. Never throws but for lack of memory.
  EngineMeasurement MeasureEngine(const EngineDirectory& engines, const std::string& engine,
                                  const TranscodingTarget& target, const std::string& uncompressed);
}
