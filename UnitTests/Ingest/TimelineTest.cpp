// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/PhaseText.h"

#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  using std::chrono::milliseconds;

  TEST(Timeline, EachMarkGivesTheTimeSinceThePreviousOneToItsPhase)
  {
    const auto mark = [](const std::vector<std::pair<Phase, int>>& marks)
    {
      Timeline timeline(At(100));

      for (const auto& [phase, time] : marks)
      {
        timeline.Mark(phase, At(time));
      }

      EXPECT_EQ(At(marks.back().second), timeline.GetLastMark());
      return ToText(timeline.GetPhases());
    };

    EXPECT_EQ("receive 3, prepare 4, commit 5 = 12",
              mark({{Phase::Receive, 103}, {Phase::Prepare, 107}, {Phase::Commit, 112}}));
    EXPECT_EQ("receive 0 = 0", mark({{Phase::Receive, 100}}));
    EXPECT_EQ("transcode 7, prepare 3 = 10",
              mark({{Phase::Prepare, 102}, {Phase::Transcode, 109}, {Phase::Prepare, 110}}));
    EXPECT_EQ("receive 0, commit 2 = 2",  // before the previous mark
              mark({{Phase::Receive, 98}, {Phase::Commit, 102}}));
  }

  TEST(Timeline, IdleAndSyncAreNotPartOfTheTotal)
  {
    Timeline timeline(At(0));
    timeline.AddBeside(Phase::Idle, milliseconds(50));
    timeline.AddBeside(Phase::Sync, milliseconds(1));
    timeline.Mark(Phase::Storage, At(4));
    EXPECT_EQ("idle 50, storage 4, sync 1 = 4", ToText(timeline.GetPhases()));
  }
}
