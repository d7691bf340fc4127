// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/TransferSyntax.h"

#include <cstddef>
#include <string_view>

namespace OrthancPerf
{
  // What the header of a compressed frame says of its pixels. A value.
  struct CodestreamHeader
  {
    // What a JPEG stream with loss says of its three components: APP0 or APP14 (ITU-T T.872), or
    // their identifiers. Without a word, decoders take them for YCbCr. Lossless streams transform
    // nothing; but some viewers believe one that says YCbCr.
    enum class Colors
    {
      Unspecified,
      Rgb,
      Ycc
    };

    std::size_t width = 0;
    std::size_t height = 0;
    unsigned int components = 0;
    unsigned int precision = 0;  // bits of a sample
    bool isSigned = false;       // only JPEG 2000 says so
    bool isLossless = false;  // the process: JPEG's SOF3, JPEG 2000's 5-3 filter, JPEG-LS's NEAR 0
    bool isColorTransformed = false;  // JPEG 2000: by its multiple component transformation
    Colors colors = Colors::Unspecified;
  };

  // Reads the header of one frame, JPEG (ITU-T T.81 annex B), JPEG-LS (T.87 annex C) or JPEG 2000
  // (T.800 annex A), goes on to the end of its codestream, EOI or EOC, and sees that nothing but
  // padding follows. Strict: a codec library may end its process, or allocate whatever a header
  // asks for, where it meets something unexpected. Looks at each byte once at most, and allocates
  // nothing to speak of. Throws CodecError if the frame is cut or malformed, and NotCovered if it
  // is of a kind that no library here decodes. Any thread may call it.
  CodestreamHeader ReadCodestreamHeader(CodestreamKind kind, std::string_view frame);
}
