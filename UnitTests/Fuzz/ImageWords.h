// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ReceivedFile.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace OrthancPerf
{
  // All samples of native pixels in little endian, by pixel, with all bits that are allocated.
  // Nothing: they are not whole bytes, or some have no place of their own.
  inline std::optional<std::vector<std::uint64_t>> ReadWords(const ImageDescription& image)
  {
    const std::size_t width = image.bitsAllocated / 8U;
    const std::size_t pixels = std::size_t(image.rows) * image.columns;
    const std::size_t samples = image.samplesPerPixel;
    const std::size_t count = pixels * samples * image.frames;

    if (width == 0 || image.bitsAllocated % 8 != 0 || image.pixelData.size() / width < count)
    {
      return std::nullopt;
    }

    std::vector<std::uint64_t> words;

    for (std::size_t i = 0; i < count; i++)
    {
      const std::size_t pixel = i / samples % pixels;
      const std::size_t frame = i / samples / pixels;
      const std::size_t place =
          image.planarConfiguration == 1 ? (frame * samples + i % samples) * pixels + pixel : i;
      std::uint64_t word = 0;

      for (std::size_t byte = width; byte > 0; byte--)
      {
        word = word << 8 | static_cast<std::uint8_t>(image.pixelData[place * width + byte - 1]);
      }

      words.push_back(word);
    }

    return words;
  }
}
