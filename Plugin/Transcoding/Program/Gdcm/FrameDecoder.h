// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/CodestreamHeader.h"
#include "Dicom/FrameFragments.h"
#include "Transcoding/Program/Gdcm/FrameFormat.h"

#include <string>
#include <string_view>

namespace OrthancPerf
{
  // Decodes the compressed frames of one image with GDCM's codecs. Each frame is looked at before
  // GDCM sees it: it allocates what a header asks for, and its assertions end the process.
  //
  // Lives on the stack of one thread.
  class FrameDecoder
  {
  public:
    // Throws NotCovered if GDCM does not decode the transfer syntax
    FrameDecoder(std::string_view transferSyntax, const FrameFormat& format,
                 std::string_view photometricInterpretation);

    // No color is converted. Throws CodecError or NotCovered.
    std::string Decode(const FrameFragments& fragments);

    // What the decoded samples are. Valid once a frame is decoded.
    std::string GetPhotometricInterpretation() const;

  private:
    void CheckHeader(const CodestreamHeader& header) const;
    std::string DecodeStream(const std::string& frame, const CodestreamHeader& header) const;
    std::string DecodeRle(const std::string& frame) const;
    std::string Adapt(std::string samples, const CodestreamHeader& header) const;

    const CodestreamKind kind_;
    const FrameFormat format_;
    const std::string photometricInterpretation_;
    CodestreamHeader header_;
  };
}
