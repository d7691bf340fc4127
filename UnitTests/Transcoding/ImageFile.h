// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DicomFileBuilder.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace OrthancPerf
{
  // What a made image says of itself, and its pixels, which need not fit
  struct ImageFile
  {
    std::string transferSyntax = "1.2.840.10008.1.2.1";
    unsigned int rows = 2;
    unsigned int columns = 3;
    unsigned int samples = 1;
    unsigned int bitsAllocated = 16;
    unsigned int bitsStored = 16;
    bool isSigned = false;
    unsigned int planarConfiguration = 0;
    std::string photometric = "MONOCHROME2 ";
    std::string frames;  // Number of Frames; empty: absent
    std::string pixels;

    static std::string Number(unsigned int value)
    {
      return {static_cast<char>(value & 0xff), static_cast<char>(value >> 8 & 0xff)};
    }

    static std::string Padded(std::string text)
    {
      return text.size() % 2 == 0 ? text : text + ' ';
    }

    std::size_t GetFrameSize() const
    {
      return std::size_t(rows) * columns * samples * bitsAllocated / 8;
    }

    // The elements before Pixel Data
    std::string MakeHeader() const
    {
      DicomFileBuilder builder;
      builder.Element(0x00080018, "UI", std::string("1.2.3.4\0", 8))
          .Element(0x00091001, "LO", "private ")
          .Number(0x00280002, samples)
          .Element(0x00280004, "CS", Padded(photometric));

      if (samples > 1)
      {
        builder.Number(0x00280006, planarConfiguration);
      }

      if (!frames.empty())
      {
        builder.Element(0x00280008, "IS", Padded(frames));
      }

      return builder.Number(0x00280010, rows)
          .Number(0x00280011, columns)
          .Number(0x00280100, bitsAllocated)
          .Number(0x00280101, bitsStored)
          .Number(0x00280102, bitsStored - 1)
          .Number(0x00280103, isSigned ? 1 : 0)
          .GetBytes();
    }

    std::string MakeDataSet() const
    {
      const std::string padded = pixels.size() % 2 == 0 ? pixels : pixels + '\0';
      return MakeHeader() + DicomFileBuilder()
                                .Element(TAG_PIXEL_DATA, bitsAllocated > 8 ? "OW" : "OB", padded)
                                .GetBytes();
    }

    std::string Make() const
    {
      return DicomFileBuilder::FileMeta(transferSyntax) + MakeDataSet();
    }

    // Pseudo-random bytes, the same for the same seed; of 16-bit samples only the stored bits
    void FillWithNoise(std::uint32_t seed, std::size_t frameCount = 1)
    {
      pixels.clear();
      const std::uint32_t mask = (1U << bitsStored) - 1;

      while (pixels.size() < frameCount * GetFrameSize())
      {
        seed = seed * 1664525 + 1013904223;  // Numerical Recipes, a linear congruential generator
        const std::uint32_t sample = seed >> 16 & mask;
        pixels.push_back(static_cast<char>(sample & 0xff));

        if (bitsAllocated == 16)
        {
          pixels.push_back(static_cast<char>(sample >> 8));
        }
      }
    }
  };
}
