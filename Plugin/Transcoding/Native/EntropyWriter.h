// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Native/HuffmanTable.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Writes differences as an entropy-coded segment: Huffman code of the category, bits that follow
  // it (ITU-T T.81 section H.1.2.2), a zero after each byte of ones (section B.1.1.5).
  //
  // Lives on the stack of one thread.
  class EntropyWriter
  {
  public:
    // One table for all components, or one for each. They and "target", to whose end the segment
    // goes, outlive the writer. "meanBits", expected for a difference, makes a good guess faster.
    EntropyWriter(const std::vector<HuffmanTable>& tables, std::size_t components, double meanBits,
                  std::string& target);

    // "count" is a multiple of the number of components, whose differences take turns
    void Write(const std::uint16_t* differences, std::size_t count);

    // Fills the last byte with ones: ITU-T T.81 section F.1.2.3
    void Finish();

  private:
    // Code and following bits of a difference
    struct Entry
    {
      std::uint32_t bits = 0;
      std::uint32_t length = 0;
    };

    // The bits that no whole byte has taken yet
    struct Bits
    {
      std::uint64_t value = 0;
      unsigned int count = 0;
      std::uint8_t* position = nullptr;

      void Append(std::uint64_t bits, unsigned int length) noexcept;
    };

    void FillEntries(const HuffmanTable& table, Entry* entries);
    void WriteBlock(const std::uint16_t* differences, std::size_t count);

    template <std::size_t Group>
    void WriteGroup(const std::uint16_t* differences, std::size_t index, Bits& bits) const;

    template <std::size_t Group>
    std::size_t WriteGroups(const std::uint16_t* differences, std::size_t count, Bits& bits) const;

    std::size_t WriteFlat(const std::uint16_t* differences, std::size_t count, Bits& bits) const;
    Entry GetZeros(std::size_t group) const noexcept;
    void WriteOne(std::uint16_t difference, std::size_t component, Bits& bits) const noexcept;
    void Drain(const Bits& bits);

    const std::vector<HuffmanTable>& tables_;
    const std::size_t components_;
    const double meanBits_;
    const std::size_t next_;  // from the entries of a component to those of the next
    std::string& target_;
    std::vector<Entry> entries_;  // of each component, for the small differences
    std::vector<std::uint16_t> indexes_;
    std::vector<std::uint8_t> buffer_;
    Bits bits_;
  };
}
