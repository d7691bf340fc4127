// SPDX-License-Identifier: GPL-3.0-or-later
#include "Admission/AdmissionQueue.h"

#include <gtest/gtest.h>
#include <ostream>
#include <string>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::seconds;

    constexpr std::uint64_t PIECE = AdmissionQueue::PIECE;
    constexpr std::uint64_t COUNTED = PIECE * AdmissionQueue::COPIES;
    constexpr int TIMEOUT = 30;
    constexpr std::size_t CAPACITY = 8;

    enum class Act
    {
      More,     // so many pieces of it are there, and it asks for another one
      Upload,   // it has so many pieces
      Release,  // what came of it
      Close,
      Limit,  // so many pieces
      Stop
    };

    enum class Is
    {
      Done,  // no question
      Go,
      Little,  // a sip
      Waiting,
      BrokenOff
    };

    // At a second, of the message at a descriptor
    struct Step
    {
      int second;
      Act act;
      int fd;
      std::uint64_t pieces;
      Is expected;
    };

    struct Case
    {
      std::string name;
      std::uint64_t limit;  // in pieces
      std::vector<Step> steps;
      std::uint64_t held;  // in pieces, at the end
      std::uint64_t waiting;
      std::uint64_t waits = 0;
      std::uint64_t givenUp = 0;
    };

    std::ostream& operator<<(std::ostream& stream, const Case& one)
    {
      return stream << one.name;
    }

    class AdmissionQueueTest : public testing::TestWithParam<Case>
    {
    protected:
      Is Perform(const Step& step)
      {
        const TimePoint now = TimePoint(std::chrono::hours(1)) + seconds(step.second);

        switch (step.act)
        {
          case Act::More:
            return Tell(queue_.AskForPiece(step.fd, step.pieces * PIECE, now), step.pieces);
          case Act::Upload:
            return Tell(queue_.AskForAll(step.fd, step.pieces * PIECE, now), 0);
          case Act::Release:
            queue_.Release(step.fd);
            break;
          case Act::Close:
            queue_.Close(step.fd);
            break;
          case Act::Limit:
            queue_.Set(step.pieces * COUNTED, seconds(TIMEOUT));
            break;
          case Act::Stop:
            queue_.Stop();
        }

        return Is::Done;
      }

      static Is Tell(const AdmissionQueue::Reply& reply, std::uint64_t pieces)
      {
        switch (reply.answer)
        {
          case AdmissionQueue::Answer::Go:
            return reply.upTo == pieces * PIECE + AdmissionQueue::SIP ? Is::Little : Is::Go;
          case AdmissionQueue::Answer::Wait:
            return Is::Waiting;
          case AdmissionQueue::Answer::BreakOff:
            break;
        }

        return Is::BrokenOff;
      }

      AdmissionQueue queue_{CAPACITY};
    };

    std::vector<Case> MakeCases()
    {
      const auto more = [](int second, int fd, std::uint64_t pieces, Is expected)
      {
        return Step{second, Act::More, fd, pieces, expected};
      };
      const auto upload = [](int second, int fd, std::uint64_t pieces, Is expected)
      {
        return Step{second, Act::Upload, fd, pieces, expected};
      };
      const auto close = [](int second, int fd)
      {
        return Step{second, Act::Close, fd, 0, Is::Done};
      };
      const auto limit = [](int second, std::uint64_t pieces)
      {
        return Step{second, Act::Limit, 0, pieces, Is::Done};
      };
      const Step stop = {1, Act::Stop, 0, 0, Is::Done};

      return {
          {"WithoutALimitNothingCounts", 0, {more(0, 1, 9, Is::Go), upload(0, 2, 9, Is::Go)}, 0, 0},
          {"AnUploadOfOnePieceDoesNotCount", 1, {upload(0, 1, 1, Is::Go)}, 0, 0},
          {"WithRoomAllAreAdmitted",
           6,
           {more(0, 1, 1, Is::Go), more(0, 2, 1, Is::Go), upload(0, 3, 2, Is::Go)},
           6,
           0},
          {"TheOldestTakesWhatItNeeds",
           4,
           {more(0, 1, 1, Is::Go), more(0, 1, 2, Is::Go), more(0, 1, 99, Is::Go)},
           100,
           0},
          {"AnUploadLargerThanTheLimitIsAdmittedAlone", 4, {upload(0, 1, 99, Is::Go)}, 99, 0},
          {"OthersWaitAndAreAdmittedInTheirOrder",
           4,
           {upload(0, 1, 4, Is::Go), upload(0, 2, 3, Is::Waiting), upload(0, 3, 3, Is::Waiting),
            close(1, 1), upload(1, 3, 3, Is::Waiting), upload(1, 2, 3, Is::Go),
            upload(1, 3, 3, Is::Waiting), close(2, 2), upload(2, 3, 3, Is::Go)},
           3,
           0,
           2},
          {"ASmallerOneDoesNotOvertake",
           4,
           {upload(0, 1, 2, Is::Go), upload(0, 2, 9, Is::Waiting), upload(0, 3, 2, Is::Waiting),
            more(0, 4, 1, Is::Waiting)},
           3,  // what is read already counts
           3,
           3},
          {"AnOlderOneGoesBeforeTheQueue",
           5,
           {more(0, 1, 1, Is::Go), more(0, 2, 1, Is::Go), upload(0, 3, 2, Is::Waiting),
            more(0, 2, 2, Is::Go)},
           5,
           1,
           1},
          {"APieceThatWaitedIsAdmittedOnceTheOldestIsOver",
           4,
           {more(0, 1, 1, Is::Go), more(0, 2, 1, Is::Go), more(0, 2, 2, Is::Waiting),
            more(1, 1, 2, Is::Go), close(2, 1), more(2, 2, 2, Is::Go), more(2, 2, 50, Is::Go)},
           51,
           0,
           1},
          {"TheHeadIsAdmittedAfterTheTimeoutForGood",
           2,
           {upload(0, 1, 2, Is::Go), more(0, 2, 1, Is::Waiting), more(19, 2, 1, Is::Waiting),
            more(30, 2, 1, Is::Go), more(30, 2, 2, Is::Go), more(31, 2, 50, Is::Go)},
           53,
           0,
           1,
           1},
          {"OneIsAdmittedInEachTimeout",
           2,
           {upload(0, 1, 2, Is::Go), upload(0, 2, 2, Is::Waiting), upload(0, 3, 2, Is::Waiting),
            upload(0, 4, 2, Is::Waiting), upload(29, 2, 2, Is::Waiting),
            upload(30, 3, 2, Is::Waiting), upload(30, 2, 2, Is::Go), upload(59, 3, 2, Is::Waiting),
            upload(60, 4, 2, Is::Waiting), upload(60, 3, 2, Is::Go), upload(89, 4, 2, Is::Waiting)},
           6,
           1,
           3,
           2},
          {"OnlyTimeAtTheHeadCounts",
           2,
           {upload(0, 1, 2, Is::Go), upload(0, 2, 2, Is::Waiting), upload(0, 3, 2, Is::Waiting),
            upload(29, 3, 2, Is::Waiting), close(29, 1), upload(29, 2, 2, Is::Go),
            upload(40, 3, 2, Is::Waiting), upload(58, 3, 2, Is::Waiting), upload(70, 3, 2, Is::Go)},
           4,
           0,
           2,
           1},
          {"ALittleIsReadOfAQueuedMessage",
           2,
           {upload(0, 1, 2, Is::Go), upload(0, 2, 9, Is::Waiting), more(0, 3, 1, Is::Waiting),
            more(19, 3, 1, Is::Waiting), more(20, 3, 1, Is::Little), more(21, 3, 1, Is::Waiting),
            more(40, 3, 1, Is::Waiting), more(41, 3, 1, Is::Little), upload(45, 2, 9, Is::Go)},
           12,  // and a sip
           0,
           2,
           1},
          {"NothingIsReadOfAnUploadThatWaits",
           2,
           {upload(0, 1, 2, Is::Go), upload(0, 2, 2, Is::Waiting), upload(20, 2, 2, Is::Waiting)},
           2,
           1,
           1},
          {"WhoReadsALittleKeepsNobodyBack",
           5,
           {upload(0, 1, 4, Is::Go), more(0, 2, 1, Is::Waiting), upload(0, 3, 2, Is::Waiting),
            more(20, 2, 1, Is::Little), close(21, 1), upload(21, 3, 2, Is::Go)},
           3,  // and a sip
           0,
           2},
          {"WhatIsReleasedIsFreeAndItsMessageStaysTheOldest",
           4,
           {more(0, 1, 3, Is::Go), upload(0, 2, 3, Is::Waiting),
            Step{1, Act::Release, 1, 0, Is::Done}, upload(1, 2, 3, Is::Go), more(2, 1, 9, Is::Go)},
           13,
           0,
           1},
          {"SwitchedOffAllGoOn",
           2,
           {upload(0, 1, 2, Is::Go), upload(0, 2, 2, Is::Waiting), more(0, 3, 1, Is::Waiting),
            limit(1, 0), more(1, 3, 1, Is::Go), upload(1, 2, 2, Is::Go), close(2, 1), close(2, 2),
            close(2, 3)},
           0,
           0,
           2},
          {"RaisedThoseGoOnForWhomThereIsRoom",
           2,
           {upload(0, 1, 2, Is::Go), upload(0, 2, 2, Is::Waiting), upload(0, 3, 2, Is::Waiting),
            limit(1, 5), upload(1, 2, 2, Is::Go), upload(1, 3, 2, Is::Waiting)},
           4,
           1,
           2},
          {"SwitchedOnWhatCameBeforeCounts",
           0,
           {more(0, 1, 5, Is::Go), more(0, 2, 5, Is::Go), limit(1, 8), more(1, 1, 6, Is::Go),
            more(1, 2, 6, Is::Waiting)},
           13,
           1,
           1},
          {"StoppedWhoWouldWaitIsBrokenOff",
           2,
           {upload(0, 1, 2, Is::Go), upload(0, 2, 2, Is::Waiting), stop,
            upload(1, 2, 2, Is::BrokenOff), more(1, 3, 1, Is::BrokenOff), close(1, 2), close(1, 3)},
           2,
           0,
           1},
          {"BeyondTheCapacityMessagesAreNotLimited",
           2,
           {upload(0, 1, 2, Is::Go), upload(0, 2, 2, Is::Waiting), upload(0, 3, 2, Is::Waiting),
            upload(0, 4, 2, Is::Waiting), upload(0, 5, 2, Is::Waiting),
            upload(0, 6, 2, Is::Waiting), upload(0, 7, 2, Is::Waiting),
            upload(0, 8, 2, Is::Waiting), upload(0, 9, 2, Is::Go)},
           2,
           7,
           7},
          {"WhatIsNotKnownIsClosedAndReleased",
           2,
           {close(0, 1), Step{0, Act::Release, 1, 0, Is::Done}},
           0,
           0},
      };
    }

    std::string GetName(const testing::TestParamInfo<Case>& info)
    {
      return info.param.name;
    }
  }

  TEST_P(AdmissionQueueTest, Scene)
  {
    const Case& one = GetParam();
    queue_.Set(one.limit * COUNTED, seconds(TIMEOUT));

    for (std::size_t i = 0; i < one.steps.size(); i++)
    {
      EXPECT_EQ(one.steps[i].expected, Perform(one.steps[i])) << "step " << i;
    }

    const AdmissionFigures figures = queue_.GetFigures();
    EXPECT_EQ(one.held, figures.held / COUNTED);
    EXPECT_EQ(one.waiting, figures.waiting);
    EXPECT_EQ(one.waits, figures.waits);
    EXPECT_EQ(one.givenUp, figures.givenUp);
    EXPECT_EQ(figures.limit != 0 || figures.inFlight != 0, queue_.IsActive());

    queue_.Clear();
    EXPECT_EQ(0U, queue_.GetFigures().held);
    EXPECT_EQ(0U, queue_.GetFigures().inFlight);
  }

  INSTANTIATE_TEST_SUITE_P(Of, AdmissionQueueTest, testing::ValuesIn(MakeCases()), &GetName);

  TEST(AdmissionQueue, CountsTheTimeThatAllHaveWaited)
  {
    const TimePoint begin(std::chrono::hours(1));
    AdmissionQueue queue(CAPACITY);
    queue.Set(COUNTED, seconds(600));
    queue.AskForAll(1, 2 * PIECE, begin);

    for (const int second : {0, 3, 10})
    {
      queue.AskForAll(2, 2 * PIECE, begin + seconds(second));
      queue.AskForAll(3, 2 * PIECE, begin + seconds(second));
    }

    EXPECT_EQ(seconds(20), queue.GetFigures().waited);
    queue.Close(1);
    queue.AskForAll(2, 2 * PIECE, begin + seconds(15));
    queue.AskForAll(2, 2 * PIECE, begin + seconds(50));
    EXPECT_EQ(seconds(25), queue.GetFigures().waited);
  }

  // Of a stranger
  TEST(AdmissionQueue, TheLargestLengthIsANumberStill)
  {
    AdmissionQueue queue(CAPACITY);
    queue.Set(COUNTED, seconds(1));
    queue.AskForAll(1, AdmissionQueue::ALL, TimePoint());
    EXPECT_EQ(AdmissionQueue::COPIES << 50U, queue.GetFigures().held);
    EXPECT_EQ(AdmissionQueue::Answer::Wait, queue.AskForAll(2, 2 * PIECE, TimePoint()).answer);
  }
}
