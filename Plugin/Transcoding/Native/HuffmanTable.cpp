// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Native/HuffmanTable.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t MAXIMUM_LENGTH = 16;

    // With one symbol more than there are categories: it takes the code of ones only, which no
    // category may have (ITU-T T.81 section F.1.2.1.1)
    constexpr std::size_t SYMBOL_COUNT = CATEGORY_COUNT + 1;
    constexpr std::size_t RESERVED = CATEGORY_COUNT;
    constexpr std::size_t NONE = SYMBOL_COUNT;

    using Lengths = std::array<std::size_t, SYMBOL_COUNT>;
    using Frequencies = std::array<std::uint64_t, SYMBOL_COUNT>;

    // How many codes there are of each length
    using LengthCounts = std::array<std::size_t, SYMBOL_COUNT + 1>;

    // The rarest symbol, the one of the largest number among equals: so the reserved one gets the
    // longest code
    std::size_t FindRarest(const Frequencies& frequencies, std::size_t except)
    {
      std::size_t rarest = NONE;

      for (std::size_t i = 0; i < SYMBOL_COUNT; i++)
      {
        if (i != except && frequencies[i] > 0 &&
            (rarest == NONE || frequencies[i] <= frequencies[rarest]))
        {
          rarest = i;
        }
      }

      return rarest;
    }

    // ITU-T T.81 figure K.1: the two rarest trees become one, until one is left
    Lengths ComputeLengths(Frequencies frequencies)
    {
      Lengths lengths = {};
      std::array<std::size_t, SYMBOL_COUNT> next = {};
      next.fill(NONE);

      while (true)
      {
        std::size_t first = FindRarest(frequencies, NONE);
        std::size_t second = FindRarest(frequencies, first);

        if (second == NONE)
        {
          return lengths;
        }

        frequencies[second] += frequencies[first];
        frequencies[first] = 0;
        std::size_t last = second;

        for (std::size_t i = second; i != NONE; i = next[i])
        {
          lengths[i]++;
          last = i;
        }

        next[last] = first;

        for (std::size_t i = first; i != NONE; i = next[i])
        {
          lengths[i]++;
        }
      }
    }

    // ITU-T T.81 figure K.3: codes of more than 16 bits become shorter at the cost of others
    void LimitLengths(LengthCounts& counts)
    {
      for (std::size_t length = counts.size() - 1; length > MAXIMUM_LENGTH; length--)
      {
        while (counts[length] > 0)
        {
          std::size_t shorter = length - 2;

          while (counts[shorter] == 0)
          {
            shorter--;
          }

          counts[length] -= 2;
          counts[length - 1]++;
          counts[shorter + 1] += 2;
          counts[shorter]--;
        }
      }
    }
  }

  HuffmanTable::HuffmanTable(const CategoryCounts& counts)
  {
    Frequencies frequencies = {};
    std::copy(counts.begin(), counts.end(), frequencies.begin());
    frequencies[RESERVED] = 1;

    const Lengths lengths = ComputeLengths(frequencies);
    LengthCounts lengthCounts = {};

    for (const std::size_t length : lengths)
    {
      lengthCounts[length]++;
    }

    LimitLengths(lengthCounts);

    for (std::size_t category = 0; category < CATEGORY_COUNT; category++)
    {
      if (lengths[category] > 0)
      {
        values_.push_back(static_cast<std::uint8_t>(category));
      }
    }

    std::stable_sort(values_.begin(), values_.end(),
                     [&lengths](std::uint8_t a, std::uint8_t b)
                     { return lengths[a] < lengths[b]; });

    // The reserved symbol is left out: it is the last one of the longest code
    std::size_t length = 1;
    std::uint32_t bits = 0;

    for (const std::uint8_t category : values_)
    {
      for (; lengthCounts[length] == 0; length++)
      {
        bits <<= 1;
      }

      codes_[category] = {static_cast<std::uint16_t>(bits), static_cast<std::uint8_t>(length)};
      bits++;
      lengthCounts[length]--;
    }
  }

  std::uint64_t HuffmanTable::CountBits(const CategoryCounts& counts) const noexcept
  {
    std::uint64_t sum = 0;

    for (std::size_t category = 0; category < CATEGORY_COUNT; category++)
    {
      sum += std::uint64_t(counts[category]) * (codes_[category].length + GetExtraBits(category));
    }

    return sum;
  }

  std::string HuffmanTable::GetSpecification() const
  {
    std::string specification(MAXIMUM_LENGTH, '\0');

    for (const std::uint8_t category : values_)
    {
      specification[codes_[category].length - std::size_t(1)]++;
    }

    specification.append(values_.begin(), values_.end());
    return specification;
  }
}
