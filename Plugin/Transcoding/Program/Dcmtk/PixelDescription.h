// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/PhotometricInterpretation.h"
#include "Transcoding/Program/Samples.h"

#include <cstdint>

class DcmItem;

namespace OrthancPerf
{
  // What an item says of its pixel data (DICOM PS3.3 C.7.6.3, Image Pixel Module). A value.
  struct PixelDescription : FrameFormat
  {
    std::uint32_t frames = 1;
    std::uint16_t planarConfiguration = 0;
    Photometric photometric = Photometric::Unknown;

    // Throws CodecError if what codecs need is missing or makes no sense
    static PixelDescription Read(DcmItem& item);

    bool IsMonochrome() const;

    // RGB, or YBR_FULL with all its samples
    bool IsFullColor() const;

    // Bytes of all frames without compression; the largest number if that is larger still
    std::uint64_t GetSize() const;
  };
}
