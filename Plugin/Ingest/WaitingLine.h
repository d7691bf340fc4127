// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace OrthancPerf
{
  // Who waits for IngestBudget, or has waited and had no room since, each with a thread of
  // Orthanc's; and how often and for how long. Allocates nothing. All but IsEmpty, SetPlaces and
  // Lock is called with the lock of Lock().
  class WaitingLine
  {
  public:
    // Whose threads wait
    enum Server : std::size_t
    {
      DICOM,
      HTTP
    };

    // A message, as far as the line is concerned. What is not said to be is the lock's.
    struct Waiter
    {
      std::atomic<bool> isWaiting = false;  // written with the lock
      bool hasWaited = false;
      bool isInLine = false;               // read also by its own thread, which writes it
      Duration waited = Duration::zero();  // before the wait under way
      TimePoint waitingSince;
      Server server = DICOM;  // in whose line it is
    };

    // How many may be in line at once
    void SetPlaces(std::uint64_t ofDicom, std::uint64_t ofHttp) noexcept;

    std::unique_lock<std::mutex> Lock() const
    {
      return std::unique_lock<std::mutex>(mutex_);
    }

    // Whether nobody waits now
    bool IsEmpty() const noexcept
    {
      return waiting_.load() == 0;
    }

    bool IsFull(const Waiter& waiter, Server server) const noexcept;

    // It takes a place in the line. It does not wait yet.
    void BeginWait(Waiter& waiter, Server server, TimePoint now) noexcept;

    // It keeps its place in the line. How long it has waited at once; zero: it did not.
    Duration EndWait(Waiter& waiter, TimePoint now) noexcept;

    void Leave(Waiter& waiter) noexcept;

    std::uint64_t CountWaiting() const noexcept
    {
      return waiting_.load();
    }

    // Of messages, since the start
    std::uint64_t CountWaits() const noexcept
    {
      return waits_;
    }

    // By all together since the start; "underWay": by those who wait now
    Duration TellWaited(Duration underWay) noexcept;

  private:
    mutable std::mutex mutex_;
    std::array<std::uint64_t, 2> inLine_ = {};  // of each server
    std::array<std::atomic<std::uint64_t>, 2> places_ = {};
    std::atomic<std::uint64_t> waiting_ = 0;
    std::uint64_t waits_ = 0;
    Duration waited_ = Duration::zero();  // by those who wait no more
    Duration told_ = Duration::zero();    // the most that was told
  };
}
