// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // A decoder of JPEG Lossless with predictor 1, written after ITU-T T.81 for the tests, to share
  // nothing with the encoder: it goes bit by bit and checks all it reads. Throws
  // std::runtime_error.
  class LosslessJpegDecoder
  {
  public:
    explicit LosslessJpegDecoder(const std::string& stream) : stream_(stream)
    {
      Expect(ReadWord() == 0xffd8, "SOI");

      while (!isScanned_)
      {
        ReadSegment();
      }

      Expect(ReadWord() == 0xffd9, "EOI");
      Expect(stream.size() - position_ <= 1, "nothing after EOI but one byte of padding");
      Expect(position_ == stream.size() || stream.back() == '\0', "zero as padding");
    }

    std::size_t precision = 0;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<std::size_t> identifiers;  // of the components
    std::vector<std::uint16_t> samples;    // interleaved

  private:
    struct Table
    {
      std::array<std::size_t, 17> count = {};
      std::vector<std::size_t> values;
    };

    static void Expect(bool condition, const char* what)
    {
      if (!condition)
      {
        throw std::runtime_error(std::string("JPEG: expected ") + what);
      }
    }

    std::size_t ReadByte()
    {
      Expect(position_ < stream_.size(), "more bytes");
      return static_cast<std::uint8_t>(stream_[position_++]);
    }

    std::size_t ReadWord()
    {
      const std::size_t high = ReadByte();
      return high << 8 | ReadByte();
    }

    void ReadSegment()
    {
      const std::size_t marker = ReadWord();
      const std::size_t begin = position_;
      const std::size_t length = ReadWord();

      switch (marker)
      {
        case 0xffc3:
          ReadFrame();
          break;

        case 0xffc4:
          while (position_ < begin + length)
          {
            ReadTable();
          }
          break;

        case 0xffda:
          ReadScan(begin + length);
          return;

        default:
          Expect(marker >= 0xffe0 && marker <= 0xffef, "SOF3, DHT, SOS or APPn");
          position_ = begin + length;
      }

      Expect(position_ == begin + length, "a segment of its length");
    }

    void ReadFrame()
    {
      precision = ReadByte();
      rows = ReadWord();
      columns = ReadWord();
      Expect(precision >= 2 && precision <= 16 && rows > 0 && columns > 0, "a legal frame");

      for (std::size_t count = ReadByte(); count > 0; count--)
      {
        identifiers.push_back(ReadByte());
        Expect(ReadByte() == 0x11, "no subsampling");
        Expect(ReadByte() == 0, "no quantization");
      }
    }

    void ReadTable()
    {
      const std::size_t destination = ReadByte();
      Expect(destination < 4, "a table for lossless coding");
      Table& table = tables_[destination];
      table = Table();
      std::size_t free = 1;  // codes of the current length

      for (std::size_t length = 1; length <= 16; length++)
      {
        table.count[length] = ReadByte();
        free *= 2;
        // The code of ones only stays free
        Expect(free > table.count[length], "codes that differ");
        free -= table.count[length];
      }

      for (const std::size_t count : table.count)
      {
        for (std::size_t i = 0; i < count; i++)
        {
          table.values.push_back(ReadByte());
          Expect(table.values.back() <= 16, "a category");
        }
      }
    }

    void ReadScan(std::size_t end)
    {
      const std::size_t components = ReadByte();
      Expect(components == identifiers.size(), "one scan of all components");
      std::vector<const Table*> tables;

      for (const std::size_t identifier : identifiers)
      {
        Expect(ReadByte() == identifier, "components in the order of the frame");
        const std::size_t destination = ReadByte();
        Expect((destination & 15) == 0 && destination >> 4 < 4, "a table");
        tables.push_back(&tables_[destination >> 4]);
      }

      Expect(ReadByte() == 1, "selection value 1");
      Expect(ReadWord() == 0, "no point transform");
      Expect(position_ == end, "a scan header of its length");
      ReadSamples(tables);

      while (bits_ > 0)
      {
        Expect(ReadBit() == 1, "ones to fill the last byte");
      }

      isScanned_ = true;
    }

    void ReadSamples(const std::vector<const Table*>& tables)
    {
      const std::size_t components = tables.size();

      for (std::size_t row = 0; row < rows; row++)
      {
        for (std::size_t column = 0; column < columns; column++)
        {
          for (std::size_t i = 0; i < components; i++)
          {
            std::size_t prediction = std::size_t(1) << (precision - 1);

            if (column > 0)
            {
              prediction = samples[samples.size() - components];
            }
            else if (row > 0)
            {
              prediction = samples[samples.size() - components * columns];
            }

            const std::size_t sample = (prediction + ReadDifference(*tables[i])) & 0xffff;
            Expect(sample >> precision == 0, "a sample in the range of the precision");
            samples.push_back(static_cast<std::uint16_t>(sample));
          }
        }
      }
    }

    // Modulo 65536
    std::size_t ReadDifference(const Table& table)
    {
      const std::size_t category = ReadCategory(table);

      if (category == 0 || category == 16)
      {
        return category == 0 ? 0 : 32768;
      }

      std::size_t value = 0;

      for (std::size_t i = 0; i < category; i++)
      {
        value = value << 1 | ReadBit();
      }

      const bool isNegative = value >> (category - 1) == 0;
      return isNegative ? 65536 + value - ((std::size_t(1) << category) - 1) : value;
    }

    std::size_t ReadCategory(const Table& table)
    {
      std::size_t code = 0;
      std::size_t first = 0;  // code of the current length
      std::size_t index = 0;  // and its value

      for (std::size_t length = 1; length <= 16; length++)
      {
        code = code << 1 | ReadBit();
        first <<= 1;

        if (code - first < table.count[length])
        {
          return table.values[index + code - first];
        }

        index += table.count[length];
        first += table.count[length];
      }

      throw std::runtime_error("JPEG: expected a code of the table");
    }

    std::size_t ReadBit()
    {
      if (bits_ == 0)
      {
        byte_ = ReadByte();
        bits_ = 8;
        Expect(byte_ != 0xff || ReadByte() == 0, "a zero after a byte of ones");
      }

      bits_--;
      return byte_ >> bits_ & 1;
    }

    const std::string& stream_;
    std::size_t position_ = 0;
    std::array<Table, 4> tables_;
    std::size_t byte_ = 0;
    std::size_t bits_ = 0;
    bool isScanned_ = false;
  };
}
