// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Samples.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <variant>

namespace OrthancPerf
{
  namespace
  {
    // Calls "visit" with a sample of the format's type
    template <typename Visit>
    void WithSample(const FrameFormat& format, const Visit& visit)
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

    // Each sample becomes what "change" makes of it
    template <typename Change>
    void ChangeSamples(std::string& frame, const FrameFormat& format, Change change)
    {
      WithSample(format,
                 [&](auto sample)
                 {
                   for (std::size_t i = 0; i + sizeof(sample) <= frame.size(); i += sizeof(sample))
                   {
                     std::memcpy(&sample, frame.data() + i, sizeof(sample));
                     sample = static_cast<decltype(sample)>(change(sample));
                     std::memcpy(frame.data() + i, &sample, sizeof(sample));
                   }
                 });
    }
  }

  SampleRange SampleRange::Allowed(const FrameFormat& format) noexcept
  {
    const std::int64_t values = std::int64_t(1) << format.bitsStored;
    return format.isSigned ? SampleRange{-values / 2, values / 2 - 1} : SampleRange{0, values - 1};
  }

  void SampleRange::Widen(std::string_view frame, const FrameFormat& format,
                          const SampleRange& padding)
  {
    WithSample(format,
               [&](auto sample)
               {
                 SampleRange range = *this;  // a copy stays in registers
                 const SampleRange left = padding;

                 for (std::size_t i = 0; i + sizeof(sample) <= frame.size(); i += sizeof(sample))
                 {
                   std::memcpy(&sample, frame.data() + i, sizeof(sample));

                   if (sample < left.minimum || sample > left.maximum)
                   {
                     range.minimum = std::min<std::int64_t>(range.minimum, sample);
                     range.maximum = std::max<std::int64_t>(range.maximum, sample);
                   }
                 }

                 *this = range;
               });
  }

  void ClampSamples(std::string& frame, const SampleRange& range, const FrameFormat& format)
  {
    ChangeSamples(frame, format,
                  [&](std::int64_t sample)
                  { return std::clamp(sample, range.minimum, range.maximum); });
  }

  std::string InterleavePlanes(std::string_view planes, const FrameFormat& format)
  {
    const std::size_t size = format.GetSampleSize();
    const std::size_t plane = format.rows * format.columns * size;
    std::string pixels(planes.size(), '\0');
    char* target = pixels.data();

    for (std::size_t position = 0; position < plane; position += size)
    {
      for (std::size_t sample = 0; sample < format.samples; sample++)
      {
        std::memcpy(target, planes.data() + sample * plane + position, size);
        target += size;
      }
    }

    return pixels;
  }

  std::string WidenSamples(std::string_view bytes, const FrameFormat& format)
  {
    const std::size_t size = format.GetSampleSize();
    std::string samples(bytes.size() * size, '\0');

    for (std::size_t i = 0; i < bytes.size(); i++)
    {
      samples[i * size] = bytes[i];
    }

    return samples;
  }

  void ExtendSigns(std::string& frame, const FrameFormat& format, unsigned int precision)
  {
    // The sign bit is worth as much below zero as it would be above (two's complement)
    const std::int64_t sign = std::int64_t(1) << (precision - 1);
    ChangeSamples(frame, format,
                  [sign](std::int64_t sample)
                  { return ((sample & (2 * sign - 1)) ^ sign) - sign; });
  }
}
