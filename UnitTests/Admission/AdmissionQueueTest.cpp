// SPDX-License-Identifier: GPL-3.0-or-later
#include "Admission/AdmissionQueue.h"

#include <gtest/gtest.h>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::seconds;

    constexpr std::uint64_t PIECE = AdmissionQueue::PIECE;
    constexpr std::uint64_t COUNTED = PIECE * AdmissionQueue::COPIES;
    constexpr TimePoint BEGIN(std::chrono::hours(1));
    constexpr int TIMEOUT = 30;
    constexpr std::size_t CAPACITY = 8;

    // Steps, with commas between them: "@3 more 1 2 go" is at 3 s, of the message at descriptor 1
    // two pieces are there, it asks for another one, and is to go on. Others are "upload FD PIECES
    // REPLY", "release FD", "close FD", "limit PIECES", and "stop".
    struct Case
    {
      std::string name;
      std::uint64_t limit;  // in pieces
      const char* steps;
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
      void Perform(const std::string& step)
      {
        SCOPED_TRACE(step);
        std::istringstream words(step);
        std::string act;
        words >> act;

        if (act[0] == '@')
        {
          now_ = BEGIN + seconds(std::stoi(act.substr(1)));
          words >> act;
        }

        std::uint64_t number = 0;  // a descriptor, or pieces
        words >> number;
        const auto fd = static_cast<int>(number);
        std::uint64_t pieces = 0;
        std::string reply;
        words >> pieces >> reply;

        if (act == "more")
        {
          EXPECT_EQ(reply, Tell(queue_.AskForPiece(fd, pieces * PIECE, now_), pieces));
        }
        else if (act == "upload")
        {
          EXPECT_EQ(reply, Tell(queue_.AskForAll(fd, pieces * PIECE, now_), 0));
        }
        else
        {
          act == "release" ? queue_.Release(fd)
          : act == "close" ? queue_.Close(fd)
          : act == "limit" ? queue_.Set(number * COUNTED, seconds(TIMEOUT))
                           : queue_.Stop();
        }
      }

      static std::string Tell(const AdmissionQueue::Reply& reply, std::uint64_t pieces)
      {
        using Answer = AdmissionQueue::Answer;
        const bool isLittle = reply.upTo == pieces * PIECE + AdmissionQueue::SIP;
        return reply.answer == Answer::Go     ? isLittle ? "little" : "go"
               : reply.answer == Answer::Wait ? "wait"
                                              : "broken";
      }

      TimePoint now_ = BEGIN;
      AdmissionQueue queue_{CAPACITY};
    };

    std::vector<Case> MakeCases()
    {
      return {
          {"WithoutALimitNothingCounts", 0, "more 1 9 go, upload 2 9 go", 0, 0},
          {"AnUploadOfOnePieceDoesNotCount", 1, "upload 1 1 go", 0, 0},
          {"WithRoomAllAreAdmitted", 6, "more 1 1 go, more 2 1 go, upload 3 2 go", 6, 0},
          {"TheOldestTakesWhatItNeeds", 4, "more 1 1 go, more 1 2 go, more 1 99 go", 100, 0},
          {"AnUploadLargerThanTheLimitIsAdmittedAlone", 4, "upload 1 99 go", 99, 0},
          {"OthersWaitAndAreAdmittedInTheirOrder", 4,
           "upload 1 4 go, upload 2 3 wait, upload 3 3 wait, @1 close 1, upload 3 3 wait, "
           "upload 2 3 go, upload 3 3 wait, @2 close 2, upload 3 3 go",
           3, 0, 2},
          {"ASmallerOneDoesNotOvertake", 4,
           "upload 1 2 go, upload 2 9 wait, upload 3 2 wait, more 4 1 wait", 3, 3,
           3},  // what is read already counts
          {"AnOlderOneGoesBeforeTheQueue", 5,
           "more 1 1 go, more 2 1 go, upload 3 2 wait, more 2 2 go", 5, 1, 1},
          {"APieceThatWaitedIsAdmittedOnceTheOldestIsOver", 4,
           "more 1 1 go, more 2 1 go, more 2 2 wait, @1 more 1 2 go, @2 close 1, more 2 2 go, "
           "more 2 50 go",
           51, 0, 1},
          {"TheHeadIsAdmittedAfterTheTimeoutForGood", 2,
           "upload 1 2 go, more 2 1 wait, @19 more 2 1 wait, @30 more 2 1 go, more 2 2 go, "
           "@31 more 2 50 go",
           53, 0, 1, 1},
          {"OneIsAdmittedInEachTimeout", 2,
           "upload 1 2 go, upload 2 2 wait, upload 3 2 wait, upload 4 2 wait, "
           "@29 upload 2 2 wait, @30 upload 3 2 wait, upload 2 2 go, @59 upload 3 2 wait, "
           "@60 upload 4 2 wait, upload 3 2 go, @89 upload 4 2 wait",
           6, 1, 3, 2},
          {"OnlyTimeAtTheHeadCounts", 2,
           "upload 1 2 go, upload 2 2 wait, upload 3 2 wait, @29 upload 3 2 wait, close 1, "
           "upload 2 2 go, @40 upload 3 2 wait, @58 upload 3 2 wait, @70 upload 3 2 go",
           4, 0, 2, 1},
          {"ALittleIsReadOfAQueuedMessage", 2,
           "upload 1 2 go, upload 2 9 wait, more 3 1 wait, @19 more 3 1 wait, "
           "@20 more 3 1 little, @21 more 3 1 wait, @40 more 3 1 wait, @41 more 3 1 little, "
           "@45 upload 2 9 go",
           12, 0, 2, 1},  // and a sip
          {"NothingIsReadOfAnUploadThatWaits", 2,
           "upload 1 2 go, upload 2 2 wait, @20 upload 2 2 wait", 2, 1, 1},
          {"WhoReadsALittleKeepsNobodyBack", 5,
           "upload 1 4 go, more 2 1 wait, upload 3 2 wait, @20 more 2 1 little, @21 close 1, "
           "upload 3 2 go",
           3, 0, 2},  // and a sip
          {"WhatIsReleasedIsFreeAndItsMessageStaysTheOldest", 4,
           "more 1 3 go, upload 2 3 wait, @1 release 1, upload 2 3 go, @2 more 1 9 go", 13, 0, 1},
          {"SwitchedOffAllGoOn", 2,
           "upload 1 2 go, upload 2 2 wait, more 3 1 wait, @1 limit 0, more 3 1 go, "
           "upload 2 2 go, @2 close 1, close 2, close 3",
           0, 0, 2},
          {"RaisedThoseGoOnForWhomThereIsRoom", 2,
           "upload 1 2 go, upload 2 2 wait, upload 3 2 wait, @1 limit 5, upload 2 2 go, "
           "upload 3 2 wait",
           4, 1, 2},
          {"SwitchedOnWhatCameBeforeCounts", 0,
           "more 1 5 go, more 2 5 go, @1 limit 8, more 1 6 go, more 2 6 wait", 13, 1, 1},
          {"StoppedWhoWouldWaitIsBrokenOff", 2,
           "upload 1 2 go, upload 2 2 wait, @1 stop, upload 2 2 broken, more 3 1 broken, "
           "close 2, close 3",
           2, 0, 1},
          {"BeyondTheCapacityMessagesAreNotLimited", 2,
           "upload 1 2 go, upload 2 2 wait, upload 3 2 wait, upload 4 2 wait, upload 5 2 wait, "
           "upload 6 2 wait, upload 7 2 wait, upload 8 2 wait, upload 9 2 go",
           2, 7, 7},
          {"WhatIsNotKnownIsClosedAndReleased", 2, "close 1, release 1", 0, 0},
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

    std::istringstream steps(one.steps);

    for (std::string step; std::getline(steps >> std::ws, step, ',');)
    {
      Perform(step);
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
    AdmissionQueue queue(CAPACITY);
    queue.Set(COUNTED, seconds(600));
    queue.AskForAll(1, 2 * PIECE, BEGIN);

    for (const int second : {0, 3, 10})
    {
      queue.AskForAll(2, 2 * PIECE, BEGIN + seconds(second));
      queue.AskForAll(3, 2 * PIECE, BEGIN + seconds(second));
    }

    EXPECT_EQ(seconds(20), queue.GetFigures().waited);
    queue.Close(1);
    queue.AskForAll(2, 2 * PIECE, BEGIN + seconds(15));
    queue.AskForAll(2, 2 * PIECE, BEGIN + seconds(50));
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
