// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/Phase.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::milliseconds;

    TimePoint At(int ms)
    {
      return TimePoint(milliseconds(ms));
    }
  }

  TEST(Timeline, EachMarkGivesTheTimeSinceThePreviousOneToItsPhase)
  {
    Timeline timeline(At(100));
    timeline.Mark(Phase::Receive, At(103));
    timeline.Mark(Phase::Prepare, At(107));
    timeline.Mark(Phase::Commit, At(112));

    EXPECT_EQ(timeline.GetPhases().Get(Phase::Receive), milliseconds(3));
    EXPECT_EQ(timeline.GetPhases().Get(Phase::Prepare), milliseconds(4));
    EXPECT_EQ(timeline.GetPhases().Get(Phase::Commit), milliseconds(5));
    EXPECT_EQ(timeline.GetPhases().GetTotal(), milliseconds(12));
    EXPECT_EQ(timeline.GetLastMark(), At(112));
  }

  TEST(Timeline, APhaseThatWasNotObservedIsAbsent)
  {
    Timeline timeline(At(0));
    timeline.Mark(Phase::Commit, At(1));
    EXPECT_FALSE(timeline.GetPhases().Get(Phase::Receive).has_value());
    EXPECT_FALSE(timeline.GetPhases().Get(Phase::Sync).has_value());
  }

  TEST(Timeline, APhaseOfNoLengthIsObserved)
  {
    Timeline timeline(At(5));
    timeline.Mark(Phase::Receive, At(5));
    EXPECT_EQ(timeline.GetPhases().Get(Phase::Receive), Duration::zero());
  }

  TEST(Timeline, APhaseMarkedTwiceAddsUp)
  {
    Timeline timeline(At(0));
    timeline.Mark(Phase::Prepare, At(2));
    timeline.Mark(Phase::Transcode, At(9));
    timeline.Mark(Phase::Prepare, At(10));
    EXPECT_EQ(timeline.GetPhases().Get(Phase::Prepare), milliseconds(3));
    EXPECT_EQ(timeline.GetPhases().GetTotal(), milliseconds(10));
  }

  TEST(Timeline, ATimeBeforeThePreviousMarkMakesNoNegativePhase)
  {
    Timeline timeline(At(10));
    timeline.Mark(Phase::Receive, At(8));
    timeline.Mark(Phase::Commit, At(12));
    EXPECT_EQ(timeline.GetPhases().Get(Phase::Receive), Duration::zero());
    EXPECT_EQ(timeline.GetPhases().Get(Phase::Commit), milliseconds(2));
  }

  TEST(Timeline, IdleAndSyncAreNotPartOfTheTotal)
  {
    Timeline timeline(At(0));
    timeline.AddBeside(Phase::Idle, milliseconds(50));
    timeline.AddBeside(Phase::Sync, milliseconds(1));
    timeline.Mark(Phase::Storage, At(4));
    EXPECT_EQ(timeline.GetPhases().Get(Phase::Idle), milliseconds(50));
    EXPECT_EQ(timeline.GetPhases().GetTotal(), milliseconds(4));
  }
}
