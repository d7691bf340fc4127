// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Program/Gdcm/FrameEncoder.h"

#include <memory>

namespace OrthancPerf
{
  // The encoders behind MakeFrameEncoder. They throw NotCovered as it does.

  std::unique_ptr<FrameEncoder> MakeJpegLosslessEncoder(const FramesToEncode& frames);

  std::unique_ptr<FrameEncoder> MakeJpegLossyEncoder(const FramesToEncode& frames,
                                                     unsigned int quality, bool isBaseline);

  // "error": no sample differs by more
  std::unique_ptr<FrameEncoder> MakeJpegLsEncoder(const FramesToEncode& frames, int error);

  // "quality": 1 to 100, zero for lossless
  std::unique_ptr<FrameEncoder> MakeJpeg2000Encoder(const FramesToEncode& frames,
                                                    unsigned int quality);

  std::unique_ptr<FrameEncoder> MakeRleEncoder(const FramesToEncode& frames);
}
