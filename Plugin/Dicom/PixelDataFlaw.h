// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ImageDescription.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // What Pixel Data holds beyond what the data set says of it, or what it lacks: decoders would
  // leave out frames, or disagree on which they are. Empty: nothing. Native pixels are counted in
  // bytes; of compressed ones, all fragments are looked through, up to the end of each codestream.
  // Compressed syntaxes that no engine decodes are not looked into. Any thread may call it.
  std::string FindPixelDataFlaw(const ImageDescription& image);

  // Whether nothing is lost with the bytes behind the last frame of native Pixel Data: the byte
  // that makes their number even, or zeros that can't be a frame, a black one, as they are fewer.
  // "frameSize": in bytes.
  bool IsPixelPadding(std::string_view rest, std::size_t frameSize) noexcept;
}
