// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/EntropyWriter.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace OrthancPerf
{
  namespace
  {
    // Differences from -HALF to HALF - 1 are looked up. Their codes have up to 16 bits, what
    // follows up to 11 (those of -HALF): an entry holds both, and the processor's nearest cache all
    // entries.
    constexpr std::size_t HALF = 1024;
    constexpr std::size_t LARGEST_CATEGORY = 11;
    constexpr std::size_t ENTRIES = 2 * HALF;
    constexpr unsigned int LENGTH_BITS = 5;
    constexpr std::uint32_t LENGTH_MASK = (1 << LENGTH_BITS) - 1;

    // What can be appended to up to seven bits that are left
    constexpr unsigned int MAXIMUM_BITS = 57;

    // Differences that are coded at a time: a multiple of the groups of one and of three components
    constexpr std::size_t BLOCK = 4092;

    // A difference takes up to 31 bits; bytes are stored by eight
    constexpr std::size_t BUFFER_SIZE = 4 * BLOCK + 16;

    // Compilers make one store of it
    void StoreBigEndian(std::uint8_t* target, std::uint64_t value)
    {
      target[0] = static_cast<std::uint8_t>(value >> 56);
      target[1] = static_cast<std::uint8_t>(value >> 48);
      target[2] = static_cast<std::uint8_t>(value >> 40);
      target[3] = static_cast<std::uint8_t>(value >> 32);
      target[4] = static_cast<std::uint8_t>(value >> 24);
      target[5] = static_cast<std::uint8_t>(value >> 16);
      target[6] = static_cast<std::uint8_t>(value >> 8);
      target[7] = static_cast<std::uint8_t>(value);
    }

    // The bits after the code: the difference if it is positive, else the difference minus one,
    // in as many bits as the category says (ITU-T T.81 section F.1.2.1.1)
    std::uint32_t GetFollowing(std::uint16_t difference, std::size_t category)
    {
      const std::uint32_t bits = difference < 32768 ? difference : difference - 1U;
      return bits & ((1U << GetExtraBits(category)) - 1);
    }
  }


  void EntropyWriter::Bits::Append(std::uint64_t bits, unsigned int length) noexcept
  {
    value = value << length | bits;
    count += length;
  }


  // Up to seven bits stay; what is stored after them is written over by the next
  inline void EntropyWriter::Bits::FlushBytes() noexcept
  {
    StoreBigEndian(position, value << (64 - count));
    position += count / 8;
    count %= 8;
  }


  EntropyWriter::EntropyWriter(const std::vector<HuffmanTable>& tables, std::size_t components,
                               std::string& target) :
    tables_(tables),
    components_(components),
    target_(target),
    entriesOfNext_(tables.size() > 1 ? ENTRIES : 0),
    buffer_(BUFFER_SIZE)
  {
    entries_.reserve(tables.size() * ENTRIES);

    for (const HuffmanTable& table : tables)
    {
      FillEntries(table);
    }
  }


  void EntropyWriter::FillEntries(const HuffmanTable& table)
  {
    const std::size_t begin = entries_.size();
    entries_.resize(begin + ENTRIES);

    for (std::size_t category = 0; category <= LARGEST_CATEGORY; category++)
    {
      const HuffmanTable::Code& code = table.GetCode(category);
      const std::uint32_t length = static_cast<std::uint32_t>(code.length + category);
      const std::uint32_t shifted = std::uint32_t(code.bits) << category;
      const std::uint32_t first = category == 0 ? 0 : 1U << (category - 1);
      const std::uint32_t last = category == 0 ? 0 : (1U << category) - 1;

      if (code.length == 0)
      {
        continue;
      }

      for (std::uint32_t i = first; i <= last && i <= HALF; i++)
      {
        entries_[begin + HALF - i] = (shifted | (last - i)) << LENGTH_BITS | length;

        if (i < HALF)
        {
          entries_[begin + HALF + i] = (shifted | i) << LENGTH_BITS | length;
        }
      }
    }
  }


  void EntropyWriter::Write(const std::uint16_t* differences, std::size_t count)
  {
    for (std::size_t i = 0; i < count; i += BLOCK)
    {
      WriteBlock(differences + i, std::min(BLOCK, count - i));
    }
  }


  void EntropyWriter::WriteBlock(const std::uint16_t* differences, std::size_t count)
  {
    Bits bits = bits_;  // a copy stays in registers
    bits.position = buffer_.data();
    std::size_t i = components_ == 1 ? WriteGroups<4>(differences, count, bits)
                                     : WriteGroups<3>(differences, count, bits);

    for (; i < count; i++)
    {
      WriteOne(differences[i], i % components_, bits);
    }

    Drain(bits);
    bits_ = bits;
  }


  template <std::size_t Group>
  std::size_t EntropyWriter::WriteGroups(const std::uint16_t* differences, std::size_t count,
                                         Bits& target) const
  {
    const Entry* const entries = entries_.data() + HALF;
    const std::size_t next = Group == 3 ? entriesOfNext_ : 0;
    Bits bits = target;
    std::size_t i = 0;

    for (; i + Group <= count; i += Group)
    {
      std::array<Entry, Group> found;
      unsigned int length = 0;
      std::uint32_t range = 0;

      for (std::size_t j = 0; j < Group; j++)
      {
        range |= (differences[i + j] + HALF) & 0xffff;
      }

      if (range < ENTRIES)
      {
        for (std::size_t j = 0; j < Group; j++)
        {
          found[j] = entries[static_cast<std::ptrdiff_t>(j * next) +
                             static_cast<std::int16_t>(differences[i + j])];
          length += found[j] & LENGTH_MASK;
        }
      }

      if (range < ENTRIES && length <= MAXIMUM_BITS)
      {
        std::uint64_t all = found[0] >> LENGTH_BITS;

        for (std::size_t j = 1; j < Group; j++)
        {
          all = all << (found[j] & LENGTH_MASK) | found[j] >> LENGTH_BITS;
        }

        bits.Append(all, length);
        bits.FlushBytes();
      }
      else
      {
        for (std::size_t j = 0; j < Group; j++)
        {
          WriteOne(differences[i + j], j % components_, bits);
        }
      }
    }

    target = bits;
    return i;
  }


  void EntropyWriter::WriteOne(std::uint16_t difference, std::size_t component,
                               Bits& bits) const noexcept
  {
    const std::size_t category = DifferenceCoder::GetCategories()[difference];
    const HuffmanTable::Code& code = tables_[tables_.size() > 1 ? component : 0].GetCode(category);
    const std::size_t extra = GetExtraBits(category);
    bits.Append(std::uint64_t(code.bits) << extra | GetFollowing(difference, category),
                static_cast<unsigned int>(code.length + extra));
    bits.FlushBytes();
  }


  // From the buffer to the target, with a zero after each byte of ones
  void EntropyWriter::Drain(const Bits& bits)
  {
    const std::uint8_t* begin = buffer_.data();
    const std::uint8_t* const end = bits.position;

    while (begin < end)
    {
      const std::size_t rest = static_cast<std::size_t>(end - begin);
      const void* const found = std::memchr(begin, 0xff, rest);
      const std::uint8_t* const next =
          found == nullptr ? end : static_cast<const std::uint8_t*>(found) + 1;
      target_.append(reinterpret_cast<const char*>(begin), static_cast<std::size_t>(next - begin));
      target_.append(found == nullptr ? 0 : 1, '\0');
      begin = next;
    }
  }


  void EntropyWriter::Finish()
  {
    bits_.position = buffer_.data();

    if (bits_.count > 0)
    {
      const unsigned int missing = 8 - bits_.count;
      bits_.Append((1U << missing) - 1, missing);
      bits_.FlushBytes();
      Drain(bits_);
    }
  }
}
