// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/TranscodingEngine.h"

#include "Dicom/TransferSyntax.h"

namespace OrthancPerf
{
  EngineResult Uncompress(const std::vector<const ITranscodingEngine*>& engines, const void* data,
                          std::size_t size, TimePoint deadline)
  {
    const TranscodingTarget target = {TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN, 100, deadline};
    EngineResult last = EngineResult::MakeDeclined("there is no engine that decodes");
    std::string reasons;

    for (const ITranscodingEngine* const engine : engines)
    {
      last = engine->Transcode(data, size, target);

      if (last.outcome == TranscodingOutcome::Transcoded)
      {
        return last;
      }

      reasons += (reasons.empty() ? "" : "; ") + (engine->GetName() + (": " + last.reason));
      last.reason = reasons;

      if (Clock::now() >= deadline)
      {
        break;
      }
    }

    return last;
  }
}
