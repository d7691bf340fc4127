// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/SampleLayout.h"

#include <cstdint>
#include <cstring>

namespace OrthancPerf
{
  namespace
  {
    template <typename Sample>
    void ExtendSignsOf(std::string& frame, unsigned int precision)
    {
      const unsigned int shift = 8 * sizeof(Sample) - precision;

      for (std::size_t i = 0; i + sizeof(Sample) <= frame.size(); i += sizeof(Sample))
      {
        Sample sample = 0;
        std::memcpy(&sample, frame.data() + i, sizeof(Sample));
        // C++17 leaves it open what a negative number becomes when it is shifted to the left
        const auto bits = static_cast<std::uint32_t>(sample) << shift;
        sample = static_cast<Sample>(static_cast<Sample>(bits) >> shift);
        std::memcpy(frame.data() + i, &sample, sizeof(Sample));
      }
    }
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


  std::string ExtractPlane(std::string_view frame, const FrameFormat& format, std::size_t component)
  {
    if (format.samples == 1)
    {
      return std::string(frame);
    }

    const std::size_t size = format.GetSampleSize();
    std::string plane;
    plane.reserve(frame.size() / format.samples);

    for (std::size_t i = component * size; i + size <= frame.size(); i += format.samples * size)
    {
      plane.append(frame.substr(i, size));
    }

    return plane;
  }


  std::string ExpandChrominance(std::string_view frame, const FrameFormat& format)
  {
    const std::size_t size = format.GetSampleSize();
    std::string pixels;
    pixels.reserve(format.GetFrameSize());

    for (std::size_t i = 0; i + 4 * size <= frame.size(); i += 4 * size)
    {
      const std::string_view chrominance = frame.substr(i + 2 * size, 2 * size);
      pixels.append(frame.substr(i, size)).append(chrominance);
      pixels.append(frame.substr(i + size, size)).append(chrominance);
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
    switch (format.GetSampleSize())
    {
      case 1:
        ExtendSignsOf<std::int8_t>(frame, precision);
        break;

      case 2:
        ExtendSignsOf<std::int16_t>(frame, precision);
        break;

      default:
        ExtendSignsOf<std::int32_t>(frame, precision);
        break;
    }
  }
}
