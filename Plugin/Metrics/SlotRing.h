// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace OrthancPerf
{
  // The slots of all windows and rates of traffic, and how many of them are a minute
  constexpr Duration SLOT_LENGTH = std::chrono::seconds(5);
  constexpr std::size_t SLOTS_OF_A_MINUTE = 12;

  // The last stretch of time in slots of equal length, the oldest of which is reused when its
  // time has passed. A window is the sum over the latest slots. The newest slot is still filling,
  // so a window covers between one slot less than its length, and its length.
  //
  //   SlotRing<int> minute(SLOT_LENGTH, SLOTS_OF_A_MINUTE, start);
  //   minute.At(now)++;
  //
  // Fixed memory. Not thread-safe: its owner locks.
  template <typename Slot>
  class SlotRing
  {
  public:
    SlotRing(Duration slotLength, std::size_t slotCount, TimePoint start) :
      slotLength_(slotLength),
      start_(start),
      entries_(slotCount)
    {
    }

    // The slot of this time. Threads may come with their times slightly out of order.
    Slot& At(TimePoint time)
    {
      const std::int64_t number = GetNumber(time);
      Entry& entry = entries_[static_cast<std::size_t>(number) % entries_.size()];

      if (entry.number < number)
      {
        entry.number = number;
        entry.slot = Slot();
      }

      return entry.slot;
    }

    void Clear() noexcept
    {
      std::fill(entries_.begin(), entries_.end(), Entry());
    }

    // Each of the latest "count" slots at this time that has something
    template <typename Visit>
    void ForEach(TimePoint now, std::size_t count, Visit visit) const
    {
      const std::int64_t oldest = GetOldest(now, count);

      for (const Entry& entry : entries_)
      {
        if (entry.number >= oldest)
        {
          visit(entry.slot);
        }
      }
    }

    // From the beginning of the oldest of these slots until now: what rates are to be divided by.
    // At least one second, so that the first instance after the start makes no absurd rate.
    Duration GetCovered(TimePoint now, std::size_t count) const
    {
      const Duration covered = now - (start_ + slotLength_ * GetOldest(now, count));
      return std::max<Duration>(covered, std::chrono::seconds(1));
    }

  private:
    struct Entry
    {
      std::int64_t number = -1;
      Slot slot;
    };

    std::int64_t GetNumber(TimePoint time) const
    {
      return std::max<std::int64_t>((time - start_) / slotLength_, 0);
    }

    std::int64_t GetOldest(TimePoint now, std::size_t count) const
    {
      return std::max<std::int64_t>(GetNumber(now) - static_cast<std::int64_t>(count) + 1, 0);
    }

    const Duration slotLength_;
    const TimePoint start_;
    std::vector<Entry> entries_;
  };
}
