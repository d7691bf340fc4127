// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/FrameFragments.h"
#include "Dicom/TransferSyntax.h"
#include "Transcoding/Program/Samples.h"

#include <string>

namespace OrthancPerf
{
  // Decodes a compressed frame, with GDCM's codecs where there is one. No colour is converted. The
  // frame has to be what its data set says (PixelDataFlaw.h): GDCM allocates what a header asks
  // for, and its assertions end the process. Throws CodecError or NotCovered.
  std::string DecodeFrame(CodestreamKind kind, const FrameFormat& format,
                          const FrameFragments& fragments);
}
