// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/TranscodingEngine.h"

#include <utility>

namespace OrthancPerf
{
  const char* ToLabel(TranscodingOutcome outcome)
  {
    switch (outcome)
    {
      case TranscodingOutcome::Transcoded:
        return "transcoded";

      case TranscodingOutcome::Declined:
        return "declined";

      default:
        return "failed";
    }
  }


  EngineResult EngineResult::MakeTranscoded(std::string file)
  {
    return {TranscodingOutcome::Transcoded, std::move(file), ""};
  }


  EngineResult EngineResult::MakeDeclined(std::string reason)
  {
    return {TranscodingOutcome::Declined, "", std::move(reason)};
  }


  EngineResult EngineResult::MakeFailed(std::string reason)
  {
    return {TranscodingOutcome::Failed, "", std::move(reason)};
  }
}
