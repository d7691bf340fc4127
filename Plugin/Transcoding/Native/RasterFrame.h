// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ImageDescription.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace OrthancPerf
{
  // One frame of native Pixel Data, as DICOM PS3.5 section 8 lays it out: samples of one or two
  // bytes, little endian, row by row. A view: the pixels belong to the file.
  struct RasterFrame
  {
    const std::uint8_t* pixels = nullptr;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t samples = 1;         // of a pixel: 1 or 3
    std::size_t bytesPerSample = 1;  // 1 or 2
    bool isPlanar = false;           // Planar Configuration 1: all of one sample, then the next
    bool isRgb = false;

    std::size_t GetSize() const noexcept  // bytes
    {
      return rows * columns * samples * bytesPerSample;
    }
  };

  // The frames of an uncompressed image, little endian, of 8 or 16 Bits Allocated and 1 or 3
  // samples. Throws CodecError for another one, or if they do not lie inside the file, whatever it
  // claims.
  std::vector<RasterFrame> FindRasterFrames(const ImageDescription& image);
}
