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
      return static_cast<std::uint16_t>(sizeof(Sample) == 1 ? bytes[0] : bytes[0] | bytes[1] << 8);
    }

    std::array<std::uint8_t, 65536> MakeCategories()
    {
      std::array<std::uint8_t, 65536> categories = {};

      for (std::uint32_t i = 0; i < categories.size(); i++)
      {
        for (std::uint32_t rest = i < 32768 ? i : 65536 - i; rest > 0; rest >>= 1)
        {
          categories[i]++;
        }
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
      frame_.isPlanar ? Compute<std::uint8_t, 3>(row) : Compute<std::uint8_t, 1>(row);
    }
    else
    {
      frame_.isPlanar ? Compute<std::uint16_t, 3>(row) : Compute<std::uint16_t, 1>(row);
    }

    return row_.data();
  }

  template <typename Sample, std::size_t Planes>
  void DifferenceCoder::Compute(std::size_t row)
  {
    const std::size_t pixel = frame_.samples / Planes * sizeof(Sample);  // in one plane
    const std::size_t stride = frame_.columns * pixel;

    for (std::size_t plane = 0; plane < Planes; plane++)
    {
      const std::uint8_t* const first = frame_.pixels + (plane * frame_.rows + row) * stride;
      std::uint16_t* const differences = row_.data() + plane;
      const auto get = [first](std::size_t position)
      {
        return Load<Sample>(first + position);
      };

      for (std::size_t i = 0; i < pixel; i += sizeof(Sample))
      {
        const std::uint16_t above =
            row == 0 ? FIRST_PREDICTION<Sample> : Load<Sample>(first + i - stride);
        differences[i / sizeof(Sample)] = static_cast<std::uint16_t>(get(i) - above);
      }

      for (std::size_t i = pixel; i < stride; i += sizeof(Sample))
      {
        differences[i / sizeof(Sample) * Planes] =
            static_cast<std::uint16_t>(get(i) - get(i - pixel));
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
