// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace OrthancPerf
{
  // TCP ports that may become others while hooks look: a bit for each, so that no lock is taken.
  // Owned by the connection tracker. Has: any thread; Set: one at a time.
  class PortSet
  {
  public:
    explicit PortSet(const std::vector<std::uint16_t>& ports)
    {
      Set(ports);
    }

    // A port that stays is never missing meanwhile
    void Set(const std::vector<std::uint16_t>& ports)
    {
      std::array<std::uint64_t, WORDS> words = {};

      for (const std::uint16_t port : ports)
      {
        words[port / BITS] |= GetBit(port);
      }

      for (std::size_t i = 0; i < WORDS; i++)
      {
        words_[i].store(words[i], std::memory_order_relaxed);
      }
    }

    bool Has(std::uint16_t port) const noexcept
    {
      return (words_[port / BITS].load(std::memory_order_relaxed) & GetBit(port)) != 0;
    }

  private:
    static constexpr std::size_t BITS = 64;
    static constexpr std::size_t WORDS = 65536 / BITS;

    static constexpr std::uint64_t GetBit(std::uint16_t port) noexcept
    {
      return std::uint64_t{1} << (port % BITS);
    }

    std::array<std::atomic<std::uint64_t>, WORDS> words_ = {};
  };
}
