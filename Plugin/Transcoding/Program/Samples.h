// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

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

  // The smallest and the largest of some samples, all allocated bits taken as one number; empty at
  // first. A value.
  struct SampleRange
  {
    std::int64_t minimum = std::numeric_limits<std::int64_t>::max();
    std::int64_t maximum = std::numeric_limits<std::int64_t>::min();

    bool IsEmpty() const noexcept
    {
      return minimum > maximum;
    }

    bool FitsInto(const SampleRange& other) const noexcept
    {
      return minimum >= other.minimum && maximum <= other.maximum;
    }

    // By the samples of a frame that are outside of "padding"
    void Widen(std::string_view frame, const FrameFormat& format, const SampleRange& padding);

    // What Bits Stored and Pixel Representation allow
    static SampleRange Allowed(const FrameFormat& format) noexcept;
  };

  // Moves samples outside of the range to its ends
  void ClampSamples(std::string& frame, const SampleRange& range, const FrameFormat& format);

  // These change how samples lie in memory, never their values:

  // From Planar Configuration 1 to 0. "planes" has the size of a frame.
  std::string InterleavePlanes(std::string_view planes, const FrameFormat& format);

  // Samples of one byte become ones of Bits Allocated, zeros above
  std::string WidenSamples(std::string_view bytes, const FrameFormat& format);

  // Gives samples of "precision" bits the sign that Pixel Representation asks for
  void ExtendSigns(std::string& frame, const FrameFormat& format, unsigned int precision);
}
