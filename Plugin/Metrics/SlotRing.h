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

  // The latest slots of equal length in which there was something; the newest one takes the place
  // of the oldest. A window is the sum over the slots since some time. The newest slot is still
  // filling, so a window covers between one slot less than its length, and its length.
  //
  //   SlotRing<int> minute(SLOT_LENGTH, SLOTS_OF_A_MINUTE, start);
  //   minute.At(now)++;
  //
  // All memory is taken at the begin, and touched as it is needed. Not thread-safe: its owner
  // locks.
  template <typename Slot>
  class SlotRing
  {
  public:
    SlotRing(Duration slotLength, std::size_t slotCount, TimePoint start) :
      slotLength_(slotLength),
      slotCount_(slotCount),
      start_(start)
    {
      entries_.reserve(slotCount);
    }

    // The slot of this time; of one before the newest slot, which threads may come with slightly
    // out of order, the newest
    Slot& At(TimePoint time) noexcept
    {
      const std::int64_t number = GetNumber(time);

      if (entries_.empty() || entries_[newest_].number < number)
      {
        newest_ = entries_.empty() ? 0 : (newest_ + 1) % slotCount_;

        if (newest_ == entries_.size())
        {
          entries_.emplace_back();
        }

        entries_[newest_].number = number;
        entries_[newest_].slot = Slot();
      }

      return entries_[newest_].slot;
    }

    void Clear(TimePoint start) noexcept
    {
      entries_.clear();
      start_ = start;
    }

    // Each slot that has something, with its begin, the newest first, until "visit" returns false
    template <typename Visit>
    void ForEachWhile(Visit visit) const
    {
      for (std::size_t i = 0; i < entries_.size(); i++)
      {
        const Entry& entry = entries_[(newest_ + slotCount_ - i) % slotCount_];

        if (!visit(entry.slot, start_ + slotLength_ * entry.number))
        {
          return;
        }
      }
    }

    template <typename Visit>
    void ForEach(TimePoint since, Visit visit) const
    {
      ForEachWhile(
          [&](const Slot& slot, TimePoint begin)
          {
            const bool isLater = begin >= since;

            if (isLater)
            {
              visit(slot, begin);
            }

            return isLater;
          });
    }

    // When the oldest of the latest "count" slots begins
    TimePoint GetBegin(TimePoint now, std::size_t count) const
    {
      const std::int64_t oldest = GetNumber(now) - static_cast<std::int64_t>(count) + 1;
      return start_ + slotLength_ * std::max<std::int64_t>(oldest, 0);
    }

    // From then until now: what rates are to be divided by. At least one second, so that the first
    // instance after the start makes no absurd rate.
    Duration GetCovered(TimePoint now, std::size_t count) const
    {
      return std::max<Duration>(now - GetBegin(now, count), std::chrono::seconds(1));
    }

  private:
    struct Entry
    {
      std::int64_t number = 0;
      Slot slot;
    };

    std::int64_t GetNumber(TimePoint time) const
    {
      return std::max<std::int64_t>((time - start_) / slotLength_, 0);
    }

    const Duration slotLength_;
    const std::size_t slotCount_;
    TimePoint start_;
    std::vector<Entry> entries_;
    std::size_t newest_ = 0;  // its place in entries_
  };
}
