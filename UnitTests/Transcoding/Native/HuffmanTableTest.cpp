// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Native/HuffmanTable.h"

#include <gtest/gtest.h>
#include <map>

namespace OrthancPerf
{
  namespace
  {
    // Each category that occurs has a code that begins no other; the one of ones only stays free
    void ExpectPrefixCode(const HuffmanTable& table, const CategoryCounts& counts)
    {
      std::map<std::uint32_t, std::uint32_t> spaces;  // first and last of the codes of 16 bits

      for (std::size_t i = 0; i < CATEGORY_COUNT; i++)
      {
        const HuffmanTable::Code& code = table.GetCode(i);
        ASSERT_EQ(counts[i] > 0, code.length > 0) << i;
        ASSERT_LE(code.length, 16) << i;

        if (code.length > 0)
        {
          const std::uint32_t width = 1U << (16 - code.length);
          const std::uint32_t first = code.bits * width;
          EXPECT_TRUE(spaces.emplace(first, first + width - 1).second) << i;
          EXPECT_LT(code.bits, (1U << code.length) - 1) << i;
        }
      }

      std::int64_t last = -1;

      for (const auto& [first, end] : spaces)
      {
        EXPECT_LT(last, first);
        last = end;
      }
    }
  }

  TEST(HuffmanTable, FrequentCategoriesHaveShortCodes)
  {
    CategoryCounts counts = {};
    counts[0] = 100;
    counts[3] = 50;
    counts[16] = 7;
    const HuffmanTable table(counts);
    EXPECT_EQ(1, table.GetCode(0).length);
    EXPECT_EQ(2, table.GetCode(3).length);
    EXPECT_EQ(3, table.GetCode(16).length);
    EXPECT_EQ(100 + 50 * (2 + 3) + 7 * 3u, table.CountBits(counts));
    ExpectPrefixCode(table, counts);
  }

  TEST(HuffmanTable, AnyCountsGiveAPrefixCode)
  {
    std::uint32_t seed = 1;

    for (int round = 0; round < 2000; round++)
    {
      CategoryCounts counts = {};

      for (std::uint64_t& count : counts)
      {
        seed = seed * 1664525 + 1013904223;
        count = (seed >> 30) == 0 ? 0 : seed >> (seed >> 27 & 31);
      }

      counts[static_cast<std::size_t>(round) % CATEGORY_COUNT]++;
      ExpectPrefixCode(HuffmanTable(counts), counts);
    }
  }
}
