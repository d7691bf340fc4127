// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Native/JpegLosslessEncoder.h"

#include "Transcoding/ImageFile.h"
#include "Transcoding/Native/DifferenceCoder.h"
#include "Transcoding/Native/HuffmanTable.h"
#include "Transcoding/Native/LosslessJpegDecoder.h"

#include <gtest/gtest.h>
#include <map>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    RasterFrame MakeFrame(const std::string& pixels, std::size_t rows, std::size_t columns,
                          std::size_t samples, std::size_t bytes)
    {
      RasterFrame frame;
      frame.pixels = reinterpret_cast<const std::uint8_t*>(pixels.data());
      frame.rows = rows;
      frame.columns = columns;
      frame.samples = samples;
      frame.bytesPerSample = bytes;
      frame.isRgb = samples == 3;
      return frame;
    }

    std::string Noise(std::size_t size, unsigned int bits, unsigned int allocated)
    {
      ImageFile image;
      image.rows = 1;
      image.columns = static_cast<unsigned int>(size * 8 / allocated);
      image.bitsAllocated = allocated;
      image.bitsStored = bits;
      image.FillWithNoise(static_cast<std::uint32_t>(size + bits));
      return image.pixels;
    }

    std::vector<std::uint16_t> ToSamples(const std::string& pixels, std::size_t bytes)
    {
      std::vector<std::uint16_t> samples;

      for (std::size_t i = 0; i < pixels.size(); i += bytes)
      {
        const std::uint8_t high = bytes == 2 ? static_cast<std::uint8_t>(pixels[i + 1]) : 0;
        samples.push_back(
            static_cast<std::uint16_t>(static_cast<std::uint8_t>(pixels[i]) | high << 8));
      }

      return samples;
    }

    void ExpectRoundTrip(const std::string& pixels, std::size_t rows, std::size_t columns,
                         std::size_t samples, std::size_t bytes)
    {
      ASSERT_EQ(rows * columns * samples * bytes, pixels.size());
      std::string stream;
      EncodeJpegLossless(MakeFrame(pixels, rows, columns, samples, bytes), stream);
      const LosslessJpegDecoder decoder(stream);
      EXPECT_EQ(8 * bytes, decoder.precision);
      EXPECT_EQ(rows, decoder.rows);
      EXPECT_EQ(columns, decoder.columns);
      EXPECT_EQ(samples, decoder.identifiers.size());
      EXPECT_TRUE(ToSamples(pixels, bytes) == decoder.samples)
          << rows << " x " << columns << " x " << samples << ", " << bytes << " bytes";
    }

    std::string FromSamples(const std::vector<std::uint16_t>& samples)
    {
      std::string pixels;

      for (const std::uint16_t sample : samples)
      {
        pixels += ImageFile::Number(sample);
      }

      return pixels;
    }

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

  TEST(JpegLosslessEncoder, NoiseOfAnyDepthAndSizeComesBack)
  {
    for (unsigned int bits = 1; bits <= 16; bits++)
    {
      for (const std::size_t samples : {1, 3})
      {
        ExpectRoundTrip(Noise(37 * 41 * samples * 2, bits, 16), 37, 41, samples, 2);

        if (bits <= 8)
        {
          ExpectRoundTrip(Noise(37 * 41 * samples, bits, 8), 37, 41, samples, 1);
        }
      }
    }

    for (std::size_t rows = 1; rows <= 5; rows++)
    {
      for (std::size_t columns = 1; columns <= 30; columns++)
      {
        ExpectRoundTrip(Noise(rows * columns, 8, 8), rows, columns, 1, 1);
        ExpectRoundTrip(Noise(rows * columns * 3, 8, 8), rows, columns, 3, 1);
        ExpectRoundTrip(Noise(rows * columns * 2, 12, 16), rows, columns, 1, 2);
      }
    }

    ExpectRoundTrip(Noise(65535 * 2, 16, 16), 1, 65535, 1, 2);
    ExpectRoundTrip(Noise(65535 * 3, 8, 8), 65535, 1, 3, 1);
  }

  // Runs of zeros of each length, at each place of a group
  TEST(JpegLosslessEncoder, FlatAndMostlyFlatImagesComeBack)
  {
    for (const char value : {'\0', '\x7f', '\x80', '\xff'})
    {
      ExpectRoundTrip(std::string(50 * 50, value), 50, 50, 1, 1);
      ExpectRoundTrip(std::string(50 * 50 * 3, value), 50, 50, 3, 1);
      ExpectRoundTrip(std::string(50 * 50 * 2, value), 50, 50, 1, 2);
    }

    for (std::size_t step = 2; step < 60; step++)
    {
      std::string pixels(97 * 3 * 16, '\5');

      for (std::size_t i = step; i < pixels.size(); i += step)
      {
        pixels[i] = static_cast<char>(i);
      }

      ExpectRoundTrip(pixels, 16, 97, 3, 1);
      ExpectRoundTrip(pixels, 48, 97, 1, 1);
    }
  }

  // The difference of 32768 is a category of its own, without extra bits
  TEST(JpegLosslessEncoder, ExtremeDifferencesComeBack)
  {
    const std::vector<std::uint16_t> steps = {0,     1,     2,     1023,  1024,  1025,
                                              2047,  2048,  32766, 32767, 32768, 32769,
                                              64511, 64512, 64513, 65535};
    std::vector<std::uint16_t> samples;
    std::uint16_t sample = 0;

    for (std::size_t i = 0; i < 64 * steps.size(); i++)
    {
      sample = static_cast<std::uint16_t>(sample + steps[(i + i / steps.size()) % steps.size()]);
      samples.push_back(sample);
    }

    ExpectRoundTrip(FromSamples(samples), 32, 32, 1, 2);
    ExpectRoundTrip(FromSamples({0x8000, 0, 0x8000, 0, 0, 0x8000}), 1, 6, 1, 2);
    ExpectRoundTrip(FromSamples({0}), 1, 1, 1, 2);

    // Bytes of ones get a zero behind them
    for (std::size_t i = 0; i < samples.size(); i++)
    {
      samples[i] = i % 2 == 0 ? 0 : 0x7fff;
    }

    ExpectRoundTrip(FromSamples(samples), 32, 32, 1, 2);
    ExpectRoundTrip(FromSamples({0xffff, 0, 0x8000}), 1, 1, 3, 2);
  }

  // Counts that grow like Fibonacci's numbers make the longest codes
  TEST(JpegLosslessEncoder, CodesOfSixteenBitsComeBack)
  {
    CategoryCounts counts = {};
    std::vector<std::uint16_t> samples;
    std::uint16_t sample = 0x8000;  // as the first one is predicted
    std::size_t count = 1;
    std::size_t next = 2;

    for (std::size_t category = CATEGORY_COUNT; category-- > 0;)
    {
      counts[category] = count;

      for (std::size_t i = 0; i < count; i++)
      {
        const int step = category == 0 ? 0 : 1 << (category - 1);
        sample = static_cast<std::uint16_t>(sample + (i % 2 == 0 ? step : -step));
        samples.push_back(sample);
      }

      count = std::exchange(next, count + next);
    }

    EXPECT_EQ(16, HuffmanTable(counts).GetCode(16).length);
    ExpectRoundTrip(FromSamples(samples), 1, samples.size(), 1, 2);
  }

  TEST(JpegLosslessEncoder, PlanarFramesComeBackInterleavedAndComponentsTellTheColourModel)
  {
    for (const std::size_t bytes : {1, 2})
    {
      const std::string planar = Noise(5 * 7 * 3 * bytes, bytes == 1 ? 8 : 13, bytes == 1 ? 8 : 16);
      const std::vector<std::uint16_t> source = ToSamples(planar, bytes);

      for (const bool isRgb : {true, false})
      {
        RasterFrame frame = MakeFrame(planar, 5, 7, 3, bytes);
        frame.isPlanar = true;
        frame.isRgb = isRgb;
        std::string stream;
        EncodeJpegLossless(frame, stream);
        const LosslessJpegDecoder decoder(stream);
        EXPECT_EQ(isRgb ? (std::vector<std::size_t>{'R', 'G', 'B'})
                        : (std::vector<std::size_t>{1, 2, 3}),
                  decoder.identifiers);
        ASSERT_EQ(source.size(), decoder.samples.size());

        for (std::size_t i = 0; i < source.size(); i++)
        {
          EXPECT_EQ(source[i % 3 * 35 + i / 3], decoder.samples[i]);
        }
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
