// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ImageDescription.h"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace OrthancPerf
{
  // Against DICOM PS3.5 section 7.1. Programs keep one of two: DCMTK the first.
  constexpr const char* UNORDERED_ELEMENTS = "an element comes twice, or they are out of order";

  // Programs leave out what stands behind an end that comes too early
  constexpr const char* NOT_LOOKED_THROUGH = "the data set can't be looked through to its end";

  // The first reason that holds; empty: none does
  inline std::string FindFirst(std::initializer_list<std::pair<bool, const char*>> reasons)
  {
    for (const auto& [holds, reason] : reasons)
    {
      if (holds)
      {
        return reason;
      }
    }

    return "";
  }

  // What speaks against the Pixel Data of an image. Empty: nothing. Any thread may call it.
  //
  // It holds more than the data set says, or less: decoders would leave out frames, or disagree on
  // which they are. Native pixels are counted in bytes; of compressed ones, all fragments are
  // looked through, up to the end of each codestream.
  //
  // Or compressed frames contradict the data set, or each other, in their size, samples, bits or
  // colours. Viewers and codecs differ in whom they believe then, so that nobody knows what the
  // image looked like: a JPEG of YCbCr that is labelled RGB, for example. DICOM PS3.5 section 8.2.1
  // asks for agreement. So it is with JPEG-LS of fewer than 8 bits, which libraries write, and
  // read, in two ways.
  //
  // Compressed syntaxes that no engine decodes are not looked into.
  std::string FindPixelDataFlaw(const ImageDescription& image);

  // Whether nothing is lost with the bytes behind the last frame of native Pixel Data: the byte
  // that makes their number even, or zeros that can't be a frame, a black one, as they are fewer.
  // "frameSize": in bytes.
  bool IsPixelPadding(std::string_view rest, std::size_t frameSize) noexcept;
}
