// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Tuning/TuningDocument.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace OrthancPerf
{
  // The socket settings in force, written by whoever tunes and read by the hooks at every call:
  // readers take no lock and allocate nothing (a congestion control's name fits into std::string's
  // own storage), they repeat the read if a writer was at it. At first, the preset "stock". Any
  // thread; owned by the probe.
  class SharedDicomSockets
  {
  public:
    SharedDicomSockets();

    // Throws std::invalid_argument if the name of the congestion control is too long
    void Set(const DicomSockets& settings);

    DicomSockets Get() const noexcept;

    // Another number after each Set(), never zero. Whoever sees it gets that Set()'s settings, or
    // later ones, from a Get() that follows.
    std::uint32_t GetRevision() const noexcept
    {
      return sequence_.load(std::memory_order_acquire) |
             1U;  // while a writer is at it, the last one
    }

    // Those that matter at every wait, without the rest
    bool IsQuickAck() const noexcept
    {
      return (words_[0].load(std::memory_order_relaxed) & QUICK_ACK) != 0;
    }

    bool IsNoDelay() const noexcept
    {
      return (words_[0].load(std::memory_order_relaxed) & NO_DELAY) != 0;
    }

  private:
    using Words = std::array<std::uint64_t, 7>;

    static constexpr std::uint64_t NO_DELAY = 1;  // of the first word
    static constexpr std::uint64_t QUICK_ACK = 2;

    static Words Pack(const DicomSockets& settings);
    static DicomSockets Unpack(const Words& words) noexcept;

    std::mutex writers_;
    std::atomic<std::uint32_t> sequence_ = 0;  // odd while a writer is at it
    std::array<std::atomic<std::uint64_t>, 7> words_ = {};
  };
}
