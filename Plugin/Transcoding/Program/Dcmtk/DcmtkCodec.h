// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Program/Frames/FrameCodec.h"

namespace OrthancPerf
{
  // DCMTK's codecs: JPEG and JPEG-LS, but no near-lossless encoder: DCMTK's (3.6.7 to 3.6.9) writes
  // behind its buffer. One per process, as DCMTK's registry of codecs is one per process.
  class DcmtkCodec : public IFrameCodec
  {
  public:
    // Takes over DCMTK's log. Nothing is printed from then on.
    DcmtkCodec();

    DcmtkCodec(const DcmtkCodec&) = delete;
    DcmtkCodec& operator=(const DcmtkCodec&) = delete;

    ~DcmtkCodec() override;

    const char* GetLibrary() const noexcept override
    {
      return "DCMTK";
    }

    bool CanDecode(CodestreamKind kind) const noexcept override;
    bool CanEncode(const TransferSyntax& target) const noexcept override;

    std::string Decode(CodestreamKind kind, const FrameFormat& format,
                       const CodestreamHeader& header, std::string_view frame) const override;

    std::string Encode(const EncodingTask& task, std::string_view frame) const override;
  };
}
