// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/SlotRing.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::seconds;

    const TimePoint START{seconds(1000)};

    struct Slot
    {
      int value = 0;
    };

    int GetSum(const SlotRing<Slot>& ring, TimePoint now, std::size_t count = 3)
    {
      int sum = 0;
      ring.ForEach(ring.GetBegin(now, count),
                   [&sum](const Slot& slot, TimePoint) { sum += slot.value; });
      return sum;
    }
  }

  TEST(SlotRing, ASlotLeavesWhenItsTimeHasPassed)
  {
    SlotRing<Slot> ring(seconds(2), 3, START);
    ring.At(START).value = 1;
    ring.At(START + seconds(2)).value = 10;
    EXPECT_EQ(11, GetSum(ring, START + seconds(5)));
    EXPECT_EQ(10, GetSum(ring, START + seconds(5), 2));
    EXPECT_EQ(0, GetSum(ring, START + seconds(5), 1));
    EXPECT_EQ(10, GetSum(ring, START + seconds(6)));
    EXPECT_EQ(0, GetSum(ring, START + seconds(8)));
  }

  TEST(SlotRing, AReusedSlotBeginsEmptyAndATimeThatCameLateEmptiesNothing)
  {
    SlotRing<Slot> ring(seconds(2), 3, START);
    ring.At(START).value = 7;
    EXPECT_EQ(0, ring.At(START + seconds(6)).value);
    ring.At(START + seconds(6)).value = 1;
    EXPECT_EQ(1, ring.At(START).value);
    EXPECT_EQ(1, ring.At(START - seconds(9)).value);
  }

  TEST(SlotRing, TimeInWhichThereWasNothingTakesNoSlot)
  {
    SlotRing<Slot> ring(seconds(2), 3, START);

    for (int i = 1; i <= 5; i++)
    {
      ring.At(START + seconds(100) * i).value = i;
    }

    std::vector<int> values;
    ring.ForEachWhile(
        [&values](const Slot& slot, TimePoint begin)
        {
          EXPECT_EQ(START + seconds(100) * slot.value, begin);
          values.push_back(slot.value);
          return true;
        });
    EXPECT_EQ((std::vector<int>{5, 4, 3}), values);
  }

  TEST(SlotRing, BeginsAnewOnceItIsCleared)
  {
    SlotRing<Slot> ring(seconds(2), 3, START);
    ring.At(START).value = 1;
    ring.At(START + seconds(2)).value = 1;
    ring.Clear(START + seconds(3));
    ring.At(START + seconds(4)).value = 10;
    EXPECT_EQ(10, GetSum(ring, START + seconds(4)));
    EXPECT_EQ(Duration(seconds(1)), ring.GetCovered(START + seconds(4), 3));
  }

  TEST(SlotRing, CoversItsLengthOrTheTimeSinceTheStart)
  {
    const SlotRing<Slot> ring(seconds(2), 3, START);
    EXPECT_EQ(Duration(seconds(1)), ring.GetCovered(START, 3));
    EXPECT_EQ(Duration(seconds(5)), ring.GetCovered(START + seconds(5), 3));
    EXPECT_EQ(Duration(seconds(4)), ring.GetCovered(START + seconds(6), 3));
    EXPECT_EQ(Duration(seconds(5)), ring.GetCovered(START + seconds(101), 3));
    EXPECT_EQ(Duration(seconds(3)), ring.GetCovered(START + seconds(101), 2));
  }
}
