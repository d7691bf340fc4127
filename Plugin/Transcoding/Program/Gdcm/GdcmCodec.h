// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Program/Frames/FrameCodec.h"

namespace OrthancPerf
{
  // GDCM's codecs: libjpeg with 8, 12 and 16 bits, CharLS, OpenJPEG. Only for the program
  // OrthancPerfGdcm: GDCM's assertions, which Debian leaves in, may end it.
  class GdcmCodec : public IFrameCodec
  {
  public:
    // Silences GDCM and dcmdata, in the whole process
    GdcmCodec();

    const char* GetLibrary() const noexcept override
    {
      return "GDCM";
    }

    bool CanDecode(CodestreamKind kind) const noexcept override;
    bool CanEncode(const TransferSyntax& target) const noexcept override;

    std::string Decode(CodestreamKind kind, const FrameFormat& format,
                       const CodestreamHeader& header, std::string_view frame) const override;

    bool DependsOnRange(const TransferSyntax& target) const noexcept override;
    std::string Encode(const EncodingTask& task, std::string_view frame) const override;
  };
}
