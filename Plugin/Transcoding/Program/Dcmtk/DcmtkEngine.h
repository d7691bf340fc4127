// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Engines/TranscodingEngine.h"

namespace OrthancPerf
{
  // The codecs of DCMTK: JPEG, JPEG-LS, RLE, and the uncompressed transfer syntaxes. Owned by the
  // main function of OrthancPerfDcmtk. One per process, as DCMTK's registry of codecs is one per
  // process; one thread.
  class DcmtkEngine : public ITranscodingEngine
  {
  public:
    DcmtkEngine();

    DcmtkEngine(const DcmtkEngine&) = delete;
    DcmtkEngine& operator=(const DcmtkEngine&) = delete;

    ~DcmtkEngine() override;

    const char* GetName() const noexcept override
    {
      return "dcmtk";
    }

    std::string GetProblem() const override;

    bool CanWrite(const std::string& transferSyntax) const noexcept override;

    EngineResult Transcode(const void* data, std::size_t size,
                           const TranscodingTarget& target) const noexcept override;
  };
}
