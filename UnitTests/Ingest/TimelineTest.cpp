// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/PhaseText.h"

#include <gtest/gtest.h>
#include <utility>
#include <vector>

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
    const struct
    {
      const char* name;
      std::vector<std::pair<Phase, int>> marks;
      const char* expected;
    } cases[] = {{"one after the other",
                  {{Phase::Receive, 103}, {Phase::Prepare, 107}, {Phase::Commit, 112}},
                  "receive 3, prepare 4, commit 5 = 12"},
                 {"no length", {{Phase::Receive, 100}}, "receive 0 = 0"},
                 {"a phase twice",
                  {{Phase::Prepare, 102}, {Phase::Transcode, 109}, {Phase::Prepare, 110}},
                  "transcode 7, prepare 3 = 10"},
                 {"before the previous mark",
                  {{Phase::Receive, 98}, {Phase::Commit, 102}},
                  "receive 0, commit 2 = 2"}};

    for (const auto& one : cases)
    {
      Timeline timeline(At(100));

      for (const auto& [phase, time] : one.marks)
      {
        timeline.Mark(phase, At(time));
      }

      EXPECT_EQ(one.expected, ToText(timeline.GetPhases())) << one.name;
      EXPECT_EQ(At(one.marks.back().second), timeline.GetLastMark()) << one.name;
    }
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
