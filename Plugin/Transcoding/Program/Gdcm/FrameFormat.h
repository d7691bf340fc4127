// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ImageDescription.h"

#include <cstddef>

namespace OrthancPerf
{
  // The samples of a frame as decoders give them and encoders take them: by pixel, in little
  // endian, each in Bits Allocated, whole bytes. A value.
  struct FrameFormat
  {
    std::size_t columns = 0;
    std::size_t rows = 0;
    unsigned int samples = 0;
    unsigned int bitsAllocated = 0;
    unsigned int bitsStored = 0;
    unsigned int highBit = 0;
    bool isSigned = false;

    // Throws NotCovered if Bits Allocated is no multiple of 8, and CodecError if the attributes
    // contradict each other
    static FrameFormat Of(const ImageDescription& image);

    std::size_t GetSampleSize() const noexcept
    {
      return bitsAllocated / 8;
    }

    std::size_t GetFrameSize() const noexcept
    {
      return rows * columns * samples * GetSampleSize();
    }

    // Whether the stored bits are the lowest ones
    bool IsRightAligned() const noexcept
    {
      return highBit + 1 == bitsStored;
    }
  };
}
