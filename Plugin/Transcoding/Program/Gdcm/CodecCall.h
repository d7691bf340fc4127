// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Program/Samples.h"

#include <gdcmImageCodec.h>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // How GDCM's codecs are told what a frame is, take it and give it. GDCM pads all to an even
  // length. They throw CodecError, and std::length_error if there are more bytes than it can count.

  // "bits" of each sample are coded. No codec converts colours, unless they are said to be RGB.
  void SetUp(gdcm::ImageCodec& codec, const FrameFormat& format, unsigned int bits, bool isSigned,
             bool isRgb);

  std::string Encode(gdcm::ImageCodec& codec, std::string_view frame);

  // "size": of the decoded frame
  std::string Decode(gdcm::ImageCodec& codec, std::string_view codestream, std::size_t size);
}
