// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/HuffmanTable.h"

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
    // goes, outlive the writer.
    EntropyWriter(const std::vector<HuffmanTable>& tables, std::size_t components,
                  std::string& target);

    // "count" is a multiple of the number of components, whose differences take turns
    void Write(const std::uint16_t* differences, std::size_t count);

    // Fills the last byte with ones: ITU-T T.81 section F.1.2.3
    void Finish();

  private:
    // Code and following bits of a difference: bits above, their number in the lowest five
    using Entry = std::uint32_t;

    // The bits that no whole byte has taken yet
    struct Bits
    {
      std::uint64_t value = 0;
      unsigned int count = 0;
      std::uint8_t* position = nullptr;

      void Append(std::uint64_t bits, unsigned int length) noexcept;
      void FlushBytes() noexcept;
    };

    void FillEntries(const HuffmanTable& table);

    template <std::size_t Group>
    std::size_t WriteGroups(const std::uint16_t* differences, std::size_t count, Bits& bits) const;

    void WriteOne(std::uint16_t difference, std::size_t component, Bits& bits) const noexcept;
    void WriteBlock(const std::uint16_t* differences, std::size_t count);
    void Drain(const Bits& bits);

    const std::vector<HuffmanTable>& tables_;
    const std::size_t components_;
    std::string& target_;
    std::vector<Entry> entries_;  // of each component, for the small differences
    std::size_t entriesOfNext_ = 0;
    std::vector<std::uint8_t> buffer_;
    Bits bits_;
  };
}
