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
      return revision_.load(std::memory_order_acquire);
    }

    // Those that matter at every wait, without the rest
    bool IsQuickAck() const noexcept
    {
      return isQuickAck_.load(std::memory_order_relaxed);
    }

    bool IsNoDelay() const noexcept
    {
      return isNoDelay_.load(std::memory_order_relaxed);
    }

  private:
    using Words = std::array<std::uint64_t, 7>;

    static Words Pack(const DicomSockets& settings);
    static DicomSockets Unpack(const Words& words) noexcept;

    std::mutex writers_;
    std::atomic<std::uint32_t> sequence_ = 0;  // odd while a writer is at it
    std::array<std::atomic<std::uint64_t>, 7> words_;
    std::atomic<bool> isQuickAck_ = false;
    std::atomic<bool> isNoDelay_ = false;
    std::atomic<std::uint32_t> revision_ = 1;
  };
}
