// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace OrthancPerf
{
  // How long the first codestream is, with the marker that ends it: EOI of JPEG and JPEG-LS (ITU-T
  // T.81 and T.87, annexes B and C), EOC of JPEG 2000 (T.800 annex A). The bytes begin with it. The
  // segments of its header are skipped, as pictures of their own may be in them. Allocate nothing,
  // look at each byte once at most; any thread may call them. Throw CodecError if there is no end.

  std::size_t MeasureJpeg(std::string_view bytes);
  std::size_t MeasureJpeg2000(std::string_view bytes);
}
