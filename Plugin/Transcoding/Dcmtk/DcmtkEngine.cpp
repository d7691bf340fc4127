// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Dcmtk/DcmtkEngine.h"

namespace OrthancPerf
{
  DcmtkEngine::DcmtkEngine() = default;
  DcmtkEngine::~DcmtkEngine() = default;


  bool DcmtkEngine::CanWrite(const std::string&) const noexcept
  {
    return false;
  }


  EngineResult DcmtkEngine::Transcode(const void*, std::size_t,
                                      const TranscodingTarget&) const noexcept
  {
    return EngineResult::MakeDeclined("DCMTK's codecs are not there yet");
  }
}
