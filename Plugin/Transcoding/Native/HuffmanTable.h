// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Native/DifferenceCoder.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // The Huffman code that makes differences of the given categories shortest, of at most 16 bits:
  // ITU-T T.81 annex K.2 (code lengths) and annex C (codes). A value; any thread may read it.
  class HuffmanTable
  {
  public:
    struct Code
    {
      std::uint16_t bits = 0;
      std::uint8_t length = 0;  // 0: the category does not occur
    };

    explicit HuffmanTable(const CategoryCounts& counts);

    const Code& GetCode(std::size_t category) const noexcept
    {
      return codes_[category];
    }

    // What differences take with this table, in bits: codes and what follows them. Each of the
    // categories has to have a code.
    std::uint64_t CountBits(const CategoryCounts& counts) const noexcept;

    // The table as part of a DHT segment, ITU-T T.81 section B.2.4.2, without its first byte
    std::string GetSpecification() const;

  private:
    std::array<Code, CATEGORY_COUNT> codes_;
    std::vector<std::uint8_t> values_;  // categories, by length of code and then by number
  };

  // Bits that follow a category's code to tell its differences apart. 32768, alone in category 16,
  // needs none: ITU-T T.81 section H.1.2.2.
  constexpr std::size_t GetExtraBits(std::size_t category)
  {
    return category == CATEGORY_COUNT - 1 ? 0 : category;
  }
}
