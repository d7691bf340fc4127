// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/CodestreamHeader.h"
#include "Dicom/FrameFragments.h"
#include "Transcoding/Program/Gdcm/FrameFormat.h"

#include <string>
#include <string_view>

namespace OrthancPerf
{
  // Decodes the compressed frames of one image, with GDCM's codecs where there is one. No colour is
  // converted.
  //
  // Lives on the stack of one thread.
  class FrameDecoder
  {
  public:
    FrameDecoder(CodestreamKind kind, const FrameFormat& format);

    // The frame has to be what its data set says (PixelDataFlaw.h): GDCM allocates what a header
    // asks for, and its assertions end the process. Throws CodecError or NotCovered.
    std::string Decode(const FrameFragments& fragments) const;

    // What the samples are once they are decoded. Of a Photometric Interpretation that DICOM
    // defines.
    std::string_view GetColors(std::string_view photometricInterpretation) const;

  private:
    std::string DecodeStream(std::string_view frame, const CodestreamHeader& header) const;

    const CodestreamKind kind_;
    const FrameFormat format_;
  };
}
