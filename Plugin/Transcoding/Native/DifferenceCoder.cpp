// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Native/DifferenceCoder.h"

namespace OrthancPerf
{
  namespace
  {
    // The prediction of a frame's first sample, 2^(P-1), for P bits: ITU-T T.81 section H.1.2.1
    template <typename Sample>
    constexpr std::uint16_t FIRST_PREDICTION = 1 << (8 * sizeof(Sample) - 1);

    // Compilers make one load of it, on any processor
    template <typename Sample>
    std::uint16_t Load(const std::uint8_t* bytes)
    {
      std::uint16_t sample = bytes[0];

      if (sizeof(Sample) == 2)
      {
        sample = static_cast<std::uint16_t>(sample | bytes[1] << 8);
      }

      return sample;
    }

    template <typename Sample>
    std::uint16_t Subtract(const std::uint8_t* sample, const std::uint8_t* prediction)
    {
      return static_cast<std::uint16_t>(Load<Sample>(sample) - Load<Sample>(prediction));
    }

    // The number of bits of the absolute value: ITU-T T.81 table H.2
    std::uint8_t ComputeCategory(std::int32_t difference)
    {
      std::uint8_t category = 0;

      for (std::int32_t rest = difference < 0 ? -difference : difference; rest > 0; rest >>= 1)
      {
        category++;
      }

      return category;
    }

    std::array<std::uint8_t, 65536> MakeCategories()
    {
      std::array<std::uint8_t, 65536> categories = {};

      for (std::int32_t i = 0; i < 65536; i++)
      {
        categories[static_cast<std::size_t>(i)] = ComputeCategory(i < 32768 ? i : i - 65536);
      }

      return categories;
    }

    // Neighbours are mostly of the same category: the same counter would have to wait for itself
    constexpr std::size_t LANES_OF_COMPONENT = 4;
  }


  const std::array<std::uint8_t, 65536>& DifferenceCoder::GetCategories() noexcept
  {
    static const std::array<std::uint8_t, 65536> CATEGORIES = MakeCategories();
    return CATEGORIES;
  }


  DifferenceCoder::DifferenceCoder(const RasterFrame& frame) :
    frame_(frame),
    row_(frame.columns * frame.samples)
  {
  }


  const std::uint16_t* DifferenceCoder::ComputeRow(std::size_t row)
  {
    if (frame_.bytesPerSample == 1)
    {
      frame_.isPlanar ? ComputePlanar<std::uint8_t>(row) : ComputeInterleaved<std::uint8_t>(row);
    }
    else
    {
      frame_.isPlanar ? ComputePlanar<std::uint16_t>(row) : ComputeInterleaved<std::uint16_t>(row);
    }

    return row_.data();
  }


  template <typename Sample>
  void DifferenceCoder::ComputeInterleaved(std::size_t row)
  {
    const std::size_t pixel = frame_.samples * sizeof(Sample);
    const std::size_t stride = frame_.columns * pixel;
    const std::uint8_t* const samples = frame_.pixels + row * stride;
    std::uint16_t* const differences = row_.data();
    const std::size_t count = row_.size();

    for (std::size_t i = 0; i < frame_.samples; i++)
    {
      const std::uint8_t* const sample = samples + i * sizeof(Sample);
      differences[i] =
          row == 0 ? static_cast<std::uint16_t>(Load<Sample>(sample) - FIRST_PREDICTION<Sample>)
                   : Subtract<Sample>(sample, sample - stride);
    }

    for (std::size_t i = frame_.samples; i < count; i++)
    {
      const std::uint8_t* const sample = samples + i * sizeof(Sample);
      differences[i] = Subtract<Sample>(sample, sample - pixel);
    }
  }


  template <typename Sample>
  void DifferenceCoder::ComputePlanar(std::size_t row)
  {
    const std::size_t stride = frame_.columns * sizeof(Sample);

    for (std::size_t component = 0; component < frame_.samples; component++)
    {
      const std::uint8_t* const samples = frame_.pixels + (component * frame_.rows + row) * stride;
      std::uint16_t* const differences = row_.data() + component;
      differences[0] =
          row == 0 ? static_cast<std::uint16_t>(Load<Sample>(samples) - FIRST_PREDICTION<Sample>)
                   : Subtract<Sample>(samples, samples - stride);

      for (std::size_t i = 1; i < frame_.columns; i++)
      {
        const std::uint8_t* const sample = samples + i * sizeof(Sample);
        differences[i * frame_.samples] = Subtract<Sample>(sample, sample - sizeof(Sample));
      }
    }
  }


  std::vector<CategoryCounts> DifferenceCoder::CountCategories()
  {
    return frame_.samples == 1 ? Count<1>() : Count<3>();
  }


  template <std::size_t Samples>
  std::vector<CategoryCounts> DifferenceCoder::Count()
  {
    constexpr std::size_t LANES = LANES_OF_COMPONENT * Samples;
    const std::array<std::uint8_t, 65536>& categories = GetCategories();
    const std::size_t count = row_.size();
    std::array<CategoryCounts, LANES> lanes = {};

    for (std::size_t row = 0; row < frame_.rows; row++)
    {
      const std::uint16_t* const differences = ComputeRow(row);
      std::size_t i = 0;

      for (; i + LANES <= count; i += LANES)
      {
        for (std::size_t j = 0; j < LANES; j++)
        {
          lanes[j][categories[differences[i + j]]]++;
        }
      }

      for (std::size_t j = 0; i < count; i++, j++)
      {
        lanes[j][categories[differences[i]]]++;
      }
    }

    std::vector<CategoryCounts> sums(Samples);

    for (std::size_t j = 0; j < LANES; j++)
    {
      for (std::size_t category = 0; category < CATEGORY_COUNT; category++)
      {
        sums[j % Samples][category] += lanes[j][category];
      }
    }

    return sums;
  }
}
