// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/PhotometricInterpretation.h"

#include <cstddef>
#include <cstdint>
#include <optional>

class DcmItem;

namespace OrthancPerf
{
  // What an item says of its pixel data (DICOM PS3.3 C.7.6.3, Image Pixel Module). A value.
  struct PixelDescription
  {
    std::uint16_t rows = 0;
    std::uint16_t columns = 0;
    std::uint16_t samplesPerPixel = 0;
    std::uint16_t bitsAllocated = 0;
    std::uint16_t bitsStored = 0;
    std::uint16_t highBit = 0;
    bool isSigned = false;
    std::uint16_t planarConfiguration = 0;
    std::uint32_t frames = 1;
    Photometric photometric = Photometric::Unknown;

    // Nothing if what codecs need is missing or makes no sense
    static std::optional<PixelDescription> Read(DcmItem& item);

    bool IsMonochrome() const;

    // RGB, or YBR_FULL with all its samples
    bool IsFullColor() const;

    // Bytes of all frames without compression; the largest number if that is larger still
    std::uint64_t GetSize() const;
  };
}
