// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace OrthancPerf
{
  // The last stretch of time in slots of equal length, the oldest of which is reused when its
  // time has passed. The newest slot is still filling, so what the ring covers varies between
  // one slot less than its length, and its length. Fixed memory. Not thread-safe: its owner
  // locks.
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

    // Each slot that has something and is not over at this time
    template <typename Visit>
    void ForEach(TimePoint now, Visit visit) const
    {
      const std::int64_t oldest = GetOldest(now);

      for (const Entry& entry : entries_)
      {
        if (entry.number >= oldest)
        {
          visit(entry.slot);
        }
      }
    }

    // From the beginning of the oldest slot until now: what rates are to be divided by. At least
    // one second, so that the first instance after the start makes no absurd rate.
    Duration GetCovered(TimePoint now) const
    {
      const Duration covered = now - (start_ + slotLength_ * GetOldest(now));
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

    std::int64_t GetOldest(TimePoint now) const
    {
      const auto count = static_cast<std::int64_t>(entries_.size());
      return std::max<std::int64_t>(GetNumber(now) - count + 1, 0);
    }

    const Duration slotLength_;
    const TimePoint start_;
    std::vector<Entry> entries_;
  };
}
