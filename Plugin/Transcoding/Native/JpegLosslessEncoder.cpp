// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Native/JpegLosslessEncoder.h"

#include "Transcoding/Native/DifferenceCoder.h"
#include "Transcoding/Native/EntropyWriter.h"
#include "Transcoding/Native/HuffmanTable.h"

#include <array>
#include <cstdint>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    // Markers: ITU-T T.81 table B.1
    constexpr unsigned int START_OF_IMAGE = 0xffd8;
    constexpr unsigned int LOSSLESS_HUFFMAN_FRAME = 0xffc3;
    constexpr unsigned int HUFFMAN_TABLES = 0xffc4;
    constexpr unsigned int START_OF_SCAN = 0xffda;
    constexpr unsigned int END_OF_IMAGE = 0xffd9;

    constexpr unsigned int SELECTION_VALUE = 1;

    // Numbers that the decoders of the Independent JPEG Group, DCMTK and GDCM tell the colours from
    using Identifiers = std::array<unsigned int, 3>;
    constexpr Identifiers RGB_COMPONENTS = {'R', 'G', 'B'};
    constexpr Identifiers OTHER_COMPONENTS = {1, 2, 3};

    void AppendByte(std::string& target, std::size_t value)
    {
      target.push_back(static_cast<char>(value & 0xff));
    }

    // Numbers are big endian in JPEG
    void AppendWord(std::string& target, std::size_t value)
    {
      AppendByte(target, value >> 8);
      AppendByte(target, value);
    }

    // A marker segment: ITU-T T.81 section B.1.1.4
    void AppendSegment(std::string& target, unsigned int marker, const std::string& parameters)
    {
      AppendWord(target, marker);
      AppendWord(target, parameters.size() + 2);
      target.append(parameters);
    }

    // ITU-T T.81 section B.2.2
    std::string MakeFrameHeader(const RasterFrame& frame, const Identifiers& identifiers)
    {
      std::string header;
      AppendByte(header, 8 * frame.bytesPerSample);
      AppendWord(header, frame.rows);
      AppendWord(header, frame.columns);
      AppendByte(header, frame.samples);

      for (std::size_t i = 0; i < frame.samples; i++)
      {
        AppendByte(header, identifiers[i]);
        AppendByte(header, 0x11);  // no subsampling
        AppendByte(header, 0);     // no quantization table
      }

      return header;
    }

    // ITU-T T.81 section B.2.4.2
    std::string MakeTableSegment(const std::vector<HuffmanTable>& tables)
    {
      std::string segment;

      for (std::size_t i = 0; i < tables.size(); i++)
      {
        AppendByte(segment, i);
        segment.append(tables[i].GetSpecification());
      }

      return segment;
    }

    // ITU-T T.81 section B.2.3
    std::string MakeScanHeader(const RasterFrame& frame, const Identifiers& identifiers,
                               std::size_t tables)
    {
      std::string header;
      AppendByte(header, frame.samples);

      for (std::size_t i = 0; i < frame.samples; i++)
      {
        AppendByte(header, identifiers[i]);
        AppendByte(header, tables > 1 ? i << 4 : 0);
      }

      AppendByte(header, SELECTION_VALUE);
      AppendWord(header, 0);  // neither the end of a spectral selection nor a point transform
      return header;
    }

    CategoryCounts SumUp(const std::vector<CategoryCounts>& components)
    {
      CategoryCounts sum = {};

      for (const CategoryCounts& component : components)
      {
        for (std::size_t i = 0; i < sum.size(); i++)
        {
          sum[i] += component[i];
        }
      }

      return sum;
    }

    std::uint64_t CountBits(const std::vector<HuffmanTable>& tables,
                            const std::vector<CategoryCounts>& components)
    {
      std::uint64_t bits = 8 * MakeTableSegment(tables).size();

      for (std::size_t i = 0; i < components.size(); i++)
      {
        bits += tables[tables.size() > 1 ? i : 0].CountBits(components[i]);
      }

      return bits;
    }

    // One table for each component, or one for all: whichever makes the frame smaller
    std::vector<HuffmanTable> ChooseTables(const std::vector<CategoryCounts>& components)
    {
      std::vector<HuffmanTable> shared = {HuffmanTable(SumUp(components))};

      if (components.size() == 1)
      {
        return shared;
      }

      std::vector<HuffmanTable> own(components.begin(), components.end());
      return CountBits(own, components) < CountBits(shared, components) ? own : shared;
    }
  }

  void EncodeJpegLossless(const RasterFrame& frame, std::string& target)
  {
    const Identifiers& identifiers = frame.isRgb ? RGB_COMPONENTS : OTHER_COMPONENTS;
    DifferenceCoder differences(frame);
    const std::vector<CategoryCounts> counts = differences.CountCategories();
    const std::vector<HuffmanTable> tables = ChooseTables(counts);

    // Bytes of ones are rare: one of 256 where all are as frequent
    const std::uint64_t bits = CountBits(tables, counts);
    const std::size_t expected = static_cast<std::size_t>(bits / 8);
    target.reserve(target.size() + expected + expected / 128 + 128);

    AppendWord(target, START_OF_IMAGE);
    AppendSegment(target, LOSSLESS_HUFFMAN_FRAME, MakeFrameHeader(frame, identifiers));
    AppendSegment(target, HUFFMAN_TABLES, MakeTableSegment(tables));
    AppendSegment(target, START_OF_SCAN, MakeScanHeader(frame, identifiers, tables.size()));

    const std::size_t count = frame.rows * differences.GetCount();
    EntropyWriter writer(tables, frame.samples, double(bits) / double(count), target);

    for (std::size_t row = 0; row < frame.rows; row++)
    {
      writer.Write(differences.ComputeRow(row), differences.GetCount());
    }

    writer.Finish();
    AppendWord(target, END_OF_IMAGE);
  }
}
