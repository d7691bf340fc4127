// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Program/Gdcm/FrameEncoder.h"

#include <gdcmImageCodec.h>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // What the encoders of this folder have in common

  bool IsRgb(const FramesToEncode& frames);

  // "bits" of each sample are encoded
  void SetUp(gdcm::ImageCodec& codec, const FrameFormat& format, unsigned int bits, bool isSigned,
             gdcm::PhotometricInterpretation::PIType colors);

  // What the codecs of GDCM do with colours depends on this; none of them converts YBR_FULL
  gdcm::PhotometricInterpretation::PIType GetColors(const FramesToEncode& frames);

  // Throws CodecError
  std::string EncodeFrame(gdcm::ImageCodec& codec, std::string_view frame);

  // Throws NotCovered for longer rows than libjpeg (JPEG_MAX_DIMENSION) or GDCM's RLE encoder has
  // room for
  void CheckDimensions(const FrameFormat& format);

  // How many bits of each sample have to be encoded so that all come back. "least": what the codec
  // has for samples of one byte.
  unsigned int GetLosslessBits(const FramesToEncode& frames, unsigned int least);

  // Throws NotCovered if lossy compression would lose more than it may
  void CheckLossySource(const FramesToEncode& frames);
}
