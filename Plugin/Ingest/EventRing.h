// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace OrthancPerf
{
  // A bounded queue from many threads to one (D. Vyukov's bounded MPMC queue, 2011): each cell
  // carries the number of the turn in which it may be written or read. Push takes no lock,
  // allocates nothing and never waits: what finds no room is dropped and counted. The reader may
  // be any thread, one at a time.
  template <typename Event, std::size_t Capacity>
  class EventRing
  {
  public:
    static_assert((Capacity & (Capacity - 1)) == 0, "a power of two");
    static_assert(std::is_trivially_copyable_v<Event>);

    EventRing() : cells_(std::make_unique<Cells>())
    {
      for (std::size_t i = 0; i < Capacity; i++)
      {
        (*cells_)[i].turn.store(i, std::memory_order_relaxed);
      }
    }

    // False if the queue is full
    bool Push(const Event& event) noexcept
    {
      std::size_t position = head_.load(std::memory_order_relaxed);

      for (;;)
      {
        Cell& cell = (*cells_)[position % Capacity];
        const std::size_t turn = cell.turn.load(std::memory_order_acquire);

        if (turn < position)
        {
          dropped_.fetch_add(1, std::memory_order_relaxed);
          return false;
        }

        if (turn > position)
        {
          position = head_.load(std::memory_order_relaxed);
        }
        else if (head_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed))
        {
          cell.event = event;
          cell.turn.store(position + 1, std::memory_order_release);
          return true;
        }
      }
    }

    // False if the queue is empty
    bool Pop(Event& event) noexcept
    {
      Cell& cell = (*cells_)[tail_ % Capacity];

      if (cell.turn.load(std::memory_order_acquire) != tail_ + 1)
      {
        return false;
      }

      event = cell.event;
      cell.turn.store(tail_ + Capacity, std::memory_order_release);
      tail_++;
      return true;
    }

    // Events that found no room, in all
    std::uint64_t CountDropped() const noexcept
    {
      return dropped_.load(std::memory_order_relaxed);
    }

  private:
    struct Cell
    {
      std::atomic<std::size_t> turn = 0;
      Event event = {};
    };

    using Cells = std::array<Cell, Capacity>;

    const std::unique_ptr<Cells> cells_;
    std::atomic<std::size_t> head_ = 0;
    std::size_t tail_ = 0;
    std::atomic<std::uint64_t> dropped_ = 0;
  };
}
