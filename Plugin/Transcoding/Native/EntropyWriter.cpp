// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Native/EntropyWriter.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <cstring>

namespace OrthancPerf
{
  namespace
  {
    // Differences from -HALF to HALF - 1 are looked up, all others have the last entry, which says
    // that it does not fit
    constexpr std::size_t HALF = 1024;
    constexpr std::size_t ENTRIES = 2 * HALF + 1;

    // What can be appended to up to seven bits that are left
    constexpr unsigned int MAXIMUM_BITS = 57;
    constexpr double EXPECTED_BITS = 40;

    // Bits of a difference below which runs of zeros are worth a look
    constexpr double FLAT_BITS = 3;

    // Differences that are coded at a time: a multiple of all groups, with some left for the rest
    constexpr std::size_t BLOCK = 4092;

    // A difference takes up to 31 bits; bytes are stored by eight
    constexpr std::size_t BUFFER_SIZE = 4 * BLOCK + 16;

    // The bits after the code: the difference if it is positive, else the difference minus one,
    // in as many bits as the category says (ITU-T T.81 section F.1.2.1.1)
    std::uint32_t GetFollowing(std::uint16_t difference, std::size_t category)
    {
      const std::uint32_t bits = difference < 32768 ? difference : difference - 1U;
      return bits & ((1U << GetExtraBits(category)) - 1);
    }
  }

  // Up to seven bits stay; what is stored after them is written over by the next
  inline void EntropyWriter::Bits::Append(std::uint64_t bits, unsigned int length) noexcept
  {
    value = value << length | bits;
    count += length;
    boost::endian::store_big_u64(position, value << (64 - count));
    position += count / 8;
    count %= 8;
  }

  EntropyWriter::EntropyWriter(const std::vector<HuffmanTable>& tables, std::size_t components,
                               double meanBits, std::string& target) :
    tables_(tables),
    components_(components),
    meanBits_(meanBits),
    next_(tables.size() > 1 ? ENTRIES : 0),
    target_(target),
    entries_(tables.size() * ENTRIES),
    indexes_(BLOCK),
    buffer_(BUFFER_SIZE)
  {
    for (std::size_t i = 0; i < tables.size(); i++)
    {
      FillEntries(tables[i], &entries_[i * ENTRIES]);
    }
  }

  void EntropyWriter::FillEntries(const HuffmanTable& table, Entry* entries)
  {
    entries[ENTRIES - 1].length = MAXIMUM_BITS + 1;

    for (std::size_t category = 0; category < CATEGORY_COUNT - 1; category++)
    {
      const HuffmanTable::Code& code = table.GetCode(category);
      const std::uint32_t length = static_cast<std::uint32_t>(code.length + category);
      const std::uint32_t shifted = std::uint32_t(code.bits) << category;
      const std::uint32_t first = category == 0 ? 0 : 1U << (category - 1);
      const std::uint32_t last = category == 0 ? 0 : (1U << category) - 1;

      for (std::uint32_t i = first; i <= last && i <= HALF && code.length > 0; i++)
      {
        entries[HALF - i] = {shifted | (last - i), length};

        if (i < HALF)
        {
          entries[HALF + i] = {shifted | i, length};
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
    Bits bits = bits_;
    bits.position = buffer_.data();

    for (std::size_t i = 0; i < count; i++)
    {
      const std::uint16_t index = static_cast<std::uint16_t>(differences[i] + HALF);
      indexes_[i] = std::min<std::uint16_t>(index, ENTRIES - 1);
    }

    std::size_t i = 0;

    // As many at a time as will mostly fit between two flushes
    if (meanBits_ < FLAT_BITS)
    {
      i = WriteFlat(differences, count, bits);
    }
    else if (6 * meanBits_ < EXPECTED_BITS)
    {
      i = WriteGroups<6>(differences, count, bits);
    }
    else
    {
      i = components_ == 1 ? WriteGroups<4>(differences, count, bits)
                           : WriteGroups<3>(differences, count, bits);
    }

    for (; i < count; i++)
    {
      WriteOne(differences[i], i % components_, bits);
    }

    Drain(bits);
    bits_ = bits;
  }

  template <std::size_t Group>
  inline void EntropyWriter::WriteGroup(const std::uint16_t* differences, std::size_t index,
                                        Bits& bits) const
  {
    const Entry* const entries = entries_.data();
    const std::uint16_t* const indexes = &indexes_[index];
    std::uint64_t all = 0;
    unsigned int length = 0;

    for (std::size_t j = 0; j < Group; j++)
    {
      const Entry& entry = entries[j % 3 * next_ + indexes[j]];
      all = all << (entry.length & 63) | entry.bits;
      length += entry.length;
    }

    if (length <= MAXIMUM_BITS)
    {
      bits.Append(all, length);
      return;
    }

    for (std::size_t j = 0; j < Group; j++)
    {
      WriteOne(differences[index + j], j % components_, bits);
    }
  }

  template <std::size_t Group>
  std::size_t EntropyWriter::WriteGroups(const std::uint16_t* differences, std::size_t count,
                                         Bits& target) const
  {
    Bits bits = target;  // a copy stays in registers
    std::size_t i = 0;

    for (; i + Group <= count; i += Group)
    {
      WriteGroup<Group>(differences, i, bits);
    }

    target = bits;
    return i;
  }

  // Most neighbours are equal: long runs of zeros go as one
  std::size_t EntropyWriter::WriteFlat(const std::uint16_t* differences, std::size_t count,
                                       Bits& target) const
  {
    constexpr std::size_t GROUP = 12;
    constexpr std::uint16_t ZEROS[GROUP] = {};
    const Entry zeros = GetZeros(GROUP);
    Bits bits = target;
    std::size_t i = 0;

    for (; i + GROUP <= count; i += GROUP)
    {
      if (zeros.length > 0 && std::memcmp(differences + i, ZEROS, sizeof(ZEROS)) == 0)
      {
        bits.Append(zeros.bits, zeros.length);
      }
      else
      {
        WriteGroup<GROUP / 2>(differences, i, bits);
        WriteGroup<GROUP / 2>(differences, i + GROUP / 2, bits);
      }
    }

    target = bits;
    return i;
  }

  // So many differences of zero in one entry; without length if it can't hold them
  EntropyWriter::Entry EntropyWriter::GetZeros(std::size_t group) const noexcept
  {
    Entry zeros;

    for (std::size_t j = 0; j < group; j++)
    {
      const Entry& entry = entries_[j % 3 * next_ + HALF];
      zeros.bits = zeros.bits << entry.length | entry.bits;
      zeros.length += entry.length;

      if (entry.length == 0 || zeros.length > 32)
      {
        return {};
      }
    }

    return zeros;
  }

  void EntropyWriter::WriteOne(std::uint16_t difference, std::size_t component,
                               Bits& bits) const noexcept
  {
    const std::size_t category = DifferenceCoder::GetCategories()[difference];
    const HuffmanTable::Code& code = tables_[tables_.size() > 1 ? component : 0].GetCode(category);
    const std::size_t extra = GetExtraBits(category);
    bits.Append(std::uint64_t(code.bits) << extra | GetFollowing(difference, category),
                static_cast<unsigned int>(code.length + extra));
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
      Drain(bits_);
    }
  }
}
