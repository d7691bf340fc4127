// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/FrameFormat.h"

#include "Dicom/CodecError.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <variant>

namespace OrthancPerf
{
  namespace
  {
    template <typename Sample>
    void Widen(SampleRange& range, std::string_view frame)
    {
      Sample minimum = std::numeric_limits<Sample>::max();
      Sample maximum = std::numeric_limits<Sample>::min();

      for (std::size_t i = 0; i + sizeof(Sample) <= frame.size(); i += sizeof(Sample))
      {
        Sample sample = 0;
        std::memcpy(&sample, frame.data() + i, sizeof(Sample));
        minimum = std::min(minimum, sample);
        maximum = std::max(maximum, sample);
      }

      range.minimum = std::min<std::int64_t>(range.minimum, minimum);
      range.maximum = std::max<std::int64_t>(range.maximum, maximum);
    }

    template <typename Sample>
    void Clamp(std::string& frame, const SampleRange& range)
    {
      for (std::size_t i = 0; i + sizeof(Sample) <= frame.size(); i += sizeof(Sample))
      {
        Sample sample = 0;
        std::memcpy(&sample, frame.data() + i, sizeof(Sample));
        sample =
            static_cast<Sample>(std::clamp<std::int64_t>(sample, range.minimum, range.maximum));
        std::memcpy(frame.data() + i, &sample, sizeof(Sample));
      }
    }

    // Calls "visit" with a sample of the format's type
    template <typename Visit>
    void WithSample(const FrameFormat& format, Visit visit)
    {
      using Sample = std::variant<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
                                  std::uint32_t, std::int32_t>;
      static constexpr std::array<Sample, 6> SAMPLES = {std::uint8_t(),  std::int8_t(),
                                                        std::uint16_t(), std::int16_t(),
                                                        std::uint32_t(), std::int32_t()};

      // 0 for one byte, 2 for two, 4 for four
      const std::size_t unsignedOne = format.GetSampleSize() / 2 * 2;
      std::visit(visit, SAMPLES[unsignedOne + (format.isSigned ? 1 : 0)]);
    }
  }


  FrameFormat FrameFormat::Of(const ImageDescription& image)
  {
    if (!image.GetNativeSize().has_value())
    {
      throw CodecError(
          "Rows, Columns, Samples per Pixel or Bits Allocated is missing or too large");
    }

    if (!image.hasLegalFrames)
    {
      throw CodecError("Number of Frames is zero, or can't be read");
    }

    if (image.bitsAllocated != 8 && image.bitsAllocated != 16 && image.bitsAllocated != 32)
    {
      throw NotCovered("GDCM compresses only 8, 16 or 32 Bits Allocated");
    }

    if (image.bitsStored == 0 || image.bitsStored > image.bitsAllocated ||
        image.highBit >= image.bitsAllocated || image.highBit + 1 < image.bitsStored)
    {
      throw CodecError("Bits Allocated, Bits Stored and High Bit contradict each other");
    }

    if (image.samplesPerPixel != 1 && image.samplesPerPixel != 3)
    {
      throw NotCovered("GDCM compresses only 1 or 3 Samples per Pixel");
    }

    FrameFormat format;
    format.columns = image.columns;
    format.rows = image.rows;
    format.samples = image.samplesPerPixel;
    format.bitsAllocated = image.bitsAllocated;
    format.bitsStored = image.bitsStored;
    format.highBit = image.highBit;
    format.isSigned = image.pixelRepresentation != 0;
    return format;
  }


  SampleRange SampleRange::Allowed(const FrameFormat& format) noexcept
  {
    const std::int64_t values = std::int64_t(1) << format.bitsStored;
    return format.isSigned ? SampleRange{-values / 2, values / 2 - 1} : SampleRange{0, values - 1};
  }


  SampleRange MeasureRange(const std::vector<std::string_view>& frames, const FrameFormat& format)
  {
    SampleRange range{std::numeric_limits<std::int64_t>::max(),
                      std::numeric_limits<std::int64_t>::min()};

    for (const std::string_view frame : frames)
    {
      WithSample(format, [&](auto sample) { Widen<decltype(sample)>(range, frame); });
    }

    return range;
  }


  void ClampSamples(std::string& frame, const SampleRange& range, const FrameFormat& format)
  {
    WithSample(format, [&](auto sample) { Clamp<decltype(sample)>(frame, range); });
  }
}
