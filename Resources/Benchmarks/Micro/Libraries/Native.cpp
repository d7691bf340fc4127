// SPDX-License-Identifier: GPL-3.0-or-later
#include "Encoder.h"

#include "Transcoding/Native/NativeEngine.h"

#include <stdexcept>

namespace OrthancPerf
{
  std::string EncodeFile(const std::string& file)
  {
    static const NativeEngine ENGINE({}, 1);
    TranscodingTarget target;
    target.transferSyntax = "1.2.840.10008.1.2.4.70";
    EngineResult result = ENGINE.Transcode(file.data(), file.size(), target);

    if (result.outcome != TranscodingOutcome::Transcoded)
    {
      throw std::runtime_error(result.reason);
    }

    return std::move(result.file);
  }
}
