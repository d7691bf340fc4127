// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/IngestBudget.h"

#include "Allocations.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::milliseconds;
    using std::chrono::seconds;
    using Answer = IngestBudget::Answer;

    constexpr std::uint64_t PIECE = IngestBudget::PIECE;
    constexpr std::uint64_t COST = PIECE * IngestBudget::COPIES;  // of a piece

    class IngestBudgetTest : public testing::Test
    {
    protected:
      static constexpr seconds BOUND{60};

      // With room for so many pieces
      void SetRoom(std::uint64_t pieces)
      {
        budget_.Set(pieces * COST, BOUND);
      }

      // A message that has so many pieces asks for the next one
      Answer Ask(int place, std::uint64_t pieces)
      {
        return budget_.AskForPiece(place, pieces * PIECE, now_, {}).answer;
      }

      // The same, where a sip is not enough
      Answer AskForMore(int place, std::uint64_t pieces)
      {
        const std::uint64_t upTo = budget_.AskForPiece(place, pieces * PIECE, now_, {}).upTo;
        return upTo > pieces * PIECE + SenderSips::SIP ? Answer::Go : Ask(place, pieces);
      }

      // A message that takes so many pieces
      void Take(int place, std::uint64_t pieces)
      {
        ASSERT_EQ(Answer::Go, Ask(place, pieces - 1));
      }

      // One that is all here then, and being stored
      void TakeForGood(int place, std::uint64_t pieces)
      {
        Take(place, pieces);
        budget_.MarkComplete(place, now_);
      }

      std::uint64_t CountHeld() const
      {
        return budget_.GetFigures().held / COST;
      }

      IngestBudget budget_{100};
      TimePoint now_ = TimePoint(std::chrono::hours(1));
    };
  }


  TEST_F(IngestBudgetTest, IsIdleUntilThereIsALimitAndOnceNothingIsInFlight)
  {
    EXPECT_TRUE(budget_.IsIdle());
    EXPECT_EQ(Answer::Go, Ask(1, 1000));
    EXPECT_TRUE(budget_.IsIdle());

    SetRoom(10);
    EXPECT_FALSE(budget_.IsIdle());
    Take(1, 2);
    SetRoom(0);
    EXPECT_FALSE(budget_.IsIdle());  // or nobody would tell its end
    EXPECT_EQ(2U, CountHeld());
    budget_.Close(1, now_);
    EXPECT_TRUE(budget_.IsIdle());
    EXPECT_EQ(0U, CountHeld());
  }


  TEST_F(IngestBudgetTest, CountsWhatAMessageHasAndItsNextPiece)
  {
    SetRoom(10);
    Take(1, 2);
    EXPECT_EQ(2U, CountHeld());
    Take(1, 3);
    EXPECT_EQ(3U, CountHeld());
    EXPECT_EQ(1U, budget_.GetFigures().inFlight);
    EXPECT_EQ(0U, budget_.GetFigures().waits);

    // Switched on while it was under way
    Take(2, 6);
    EXPECT_EQ(9U, CountHeld());
  }


  TEST_F(IngestBudgetTest, LetsTheOldestGoOnWhateverItTakes)
  {
    SetRoom(4);
    Take(1, 3);
    Take(1, 100);
    EXPECT_EQ(Answer::Wait, Ask(2, 1));
    Take(1, 101);
    EXPECT_EQ(1U, budget_.GetFigures().waiting);
    EXPECT_EQ(0U, budget_.GetFigures().brokenOff);
  }


  TEST_F(IngestBudgetTest, LetsOnOneAfterTheOtherInTheOrderOfTheirAge)
  {
    SetRoom(4);
    Take(1, 4);

    for (int place = 2; place <= 5; place++)
    {
      EXPECT_EQ(Answer::Wait, Ask(place, 1));
    }

    budget_.Close(1, now_);

    // There is room for two of them, which take two pieces each
    EXPECT_EQ(Answer::Wait, Ask(5, 1));
    EXPECT_EQ(Answer::Wait, Ask(3, 1));
    EXPECT_EQ(Answer::Go, Ask(2, 1));
    EXPECT_EQ(Answer::Wait, Ask(4, 1));
    EXPECT_EQ(Answer::Go, Ask(3, 1));
    EXPECT_EQ(Answer::Wait, Ask(4, 1));
    EXPECT_EQ(Answer::Wait, Ask(5, 1));
    EXPECT_EQ(4U, CountHeld());
    EXPECT_EQ(2U, budget_.GetFigures().waiting);
    EXPECT_EQ(4U, budget_.GetFigures().waits);
  }


  TEST_F(IngestBudgetTest, NobodyOvertakesThoseWhoWait)
  {
    SetRoom(4);
    Take(1, 3);
    EXPECT_EQ(Answer::Wait, Ask(2, 10));
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(3, PIECE + 1, now_).answer);
    EXPECT_EQ(3U, CountHeld());
  }


  TEST_F(IngestBudgetTest, AWaitEndsWithTheLimit)
  {
    SetRoom(2);
    Take(1, 2);
    EXPECT_EQ(Answer::Wait, Ask(2, 1));
    EXPECT_EQ(Answer::Wait, Ask(3, 1));

    SetRoom(4);
    EXPECT_EQ(Answer::Go, Ask(2, 1));
    EXPECT_EQ(Answer::Wait, Ask(3, 1));

    SetRoom(0);
    now_ += seconds(2);
    EXPECT_EQ(Answer::Go, Ask(3, 1));
    EXPECT_EQ(0U, budget_.GetFigures().waiting);
    EXPECT_EQ(seconds(2), budget_.GetFigures().waited);
    EXPECT_EQ(4U, CountHeld());  // the third is free
  }


  TEST_F(IngestBudgetTest, WhoHasWaitedForLongEnoughGetsOnByAPieceASecond)
  {
    budget_.Set(2 * COST, seconds(5));
    TakeForGood(1, 2);
    EXPECT_EQ(Answer::Wait, Ask(2, 1));
    now_ += milliseconds(4999);
    EXPECT_EQ(Answer::Wait, AskForMore(2, 1));
    now_ += milliseconds(1);
    EXPECT_EQ(Answer::Go, AskForMore(2, 1));
    EXPECT_EQ(1U, budget_.GetFigures(now_).givenUp);
    EXPECT_EQ(4U, CountHeld());  // it counts nevertheless

    // It had a quarter of that piece by a sip
    EXPECT_EQ(Answer::Wait, AskForMore(2, 2));
    now_ += milliseconds(749);
    EXPECT_EQ(Answer::Wait, AskForMore(2, 2));
    now_ += milliseconds(1);
    EXPECT_EQ(Answer::Go, AskForMore(2, 2));
    EXPECT_EQ(1U, budget_.GetFigures(now_).givenUp);

    budget_.Close(2, now_);
    EXPECT_EQ(Answer::Wait, AskForMore(2, 1));  // the next message on its connection
    now_ += seconds(4);
    EXPECT_EQ(Answer::Wait, AskForMore(2, 1));
  }


  // Ten that began together would take the machine's memory together
  TEST_F(IngestBudgetTest, WhoHasWaitedForLongEnoughIsNotLetOnBesideOthersThatHave)
  {
    budget_.Set(4 * COST, seconds(5));
    TakeForGood(1, 4);

    for (int place = 2; place <= 11; place++)
    {
      EXPECT_EQ(Answer::Wait, Ask(place, 1));
    }

    now_ += seconds(5);

    for (int place = 11; place > 2; place--)
    {
      EXPECT_EQ(Answer::Wait, AskForMore(place, 1)) << place;
    }

    EXPECT_EQ(Answer::Go, AskForMore(2, 1));  // the oldest

    for (int place = 3; place <= 11; place++)
    {
      EXPECT_EQ(Answer::Wait, AskForMore(place, 1)) << place;
    }

    EXPECT_EQ(1U, budget_.GetFigures(now_).givenUp);
    EXPECT_EQ(17U, CountHeld());  // nine have their first piece and a sip
  }


  TEST_F(IngestBudgetTest, WhoHasWaitedForLongEnoughAndGetsRoomHasNotGivenUp)
  {
    constexpr std::uint64_t LARGE = 64 * PIECE;
    budget_.Set(4 * COST, seconds(5));
    TakeForGood(1, 4);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, LARGE, now_).answer);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(3, LARGE, now_).answer);
    now_ += seconds(5);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(2, LARGE, now_).answer);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(3, LARGE, now_).answer);
    budget_.Close(1, now_);
    budget_.Close(2, now_);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(3, LARGE, now_).answer);  // the oldest
    EXPECT_EQ(1U, budget_.GetFigures(now_).givenUp);
  }


  TEST_F(IngestBudgetTest, UploadsThatHaveWaitedForLongEnoughGetOnOneAfterTheOther)
  {
    constexpr std::uint64_t LARGE = 64 * PIECE;
    constexpr std::uint64_t HUGE_ONE = std::uint64_t{1} << 40;
    budget_.Set(4 * COST, seconds(5));
    TakeForGood(1, 4);
    EXPECT_EQ(Answer::Wait, Ask(2, 1));  // stands in no upload's way
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(3, LARGE, now_).answer);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(4, HUGE_ONE, now_).answer);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(5, LARGE, now_).answer);
    now_ += seconds(5);

    EXPECT_EQ(Answer::Wait, budget_.AskForAll(4, HUGE_ONE, now_).answer);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(3, LARGE, now_).answer);
    budget_.Close(3, now_);
    now_ += milliseconds(3999);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(4, HUGE_ONE, now_).answer);
    now_ += milliseconds(1);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(4, HUGE_ONE, now_).answer);
    budget_.Close(4, now_);
    now_ += IngestBudget::LONGEST_GAP - milliseconds(1);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(5, LARGE, now_).answer);
    now_ += milliseconds(1);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(5, LARGE, now_).answer);
  }


  // Ten that Orthanc stores at once would take the machine's memory, however far apart they began
  TEST_F(IngestBudgetTest, AnUploadWithoutRoomIsAloneWhileOrthancIsAtWorkOnIt)
  {
    constexpr std::uint64_t LARGE = 64 * PIECE;
    budget_.Set(4 * COST, seconds(30));
    TakeForGood(1, 4);

    for (int place = 2; place <= 10; place++)
    {
      EXPECT_EQ(Answer::Wait, budget_.AskForAll(place, LARGE, now_).answer);
    }

    now_ += seconds(30);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(2, LARGE, now_).answer);
    budget_.MarkComplete(2, now_);

    for (int i = 0; i < 2; i++)
    {
      now_ += seconds(29);  // longer than any gap
      EXPECT_EQ(Answer::Wait, budget_.AskForAll(3, LARGE, now_).answer);
    }

    budget_.Close(2, now_);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(3, LARGE, now_).answer);
    EXPECT_EQ(4U + 64U, CountHeld());
  }


  // Its client would give up
  TEST_F(IngestBudgetTest, AnUploadThatHasWaitedThreeTimesTheBoundGetsOnBesideOneWithoutRoom)
  {
    constexpr std::uint64_t LARGE = 64 * PIECE;
    budget_.Set(4 * COST, seconds(30));
    TakeForGood(1, 4);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, LARGE, now_).answer);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(3, LARGE, now_).answer);
    now_ += seconds(30);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(2, LARGE, now_).answer);
    budget_.MarkComplete(2, now_);
    now_ += seconds(60) - milliseconds(1);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(3, LARGE, now_).answer);
    now_ += milliseconds(1);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(3, LARGE, now_).answer);
  }


  // Orthanc has made room for all of it
  TEST_F(IngestBudgetTest, AnUploadWithoutRoomThatDoesNotComeHoldsOthersUpUntilThreeTimesTheBound)
  {
    constexpr std::uint64_t LARGE = 64 * PIECE;
    budget_.Set(4 * COST, seconds(30));
    TakeForGood(1, 4);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, LARGE, now_).answer);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(3, LARGE, now_).answer);
    now_ += seconds(30);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(2, LARGE, now_).answer);
    now_ += seconds(60) - milliseconds(1);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(3, LARGE, now_).answer);
    now_ += milliseconds(1);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(3, LARGE, now_).answer);
  }


  TEST_F(IngestBudgetTest, SeveralWaitsOfAMessageAddUpToTheBound)
  {
    budget_.Set(4 * COST, seconds(5));
    Take(1, 4);
    EXPECT_EQ(Answer::Wait, Ask(2, 1));
    now_ += seconds(3);
    budget_.Set(6 * COST, seconds(5));
    EXPECT_EQ(Answer::Go, Ask(2, 1));
    EXPECT_EQ(Answer::Wait, Ask(2, 2));
    now_ += seconds(2);
    EXPECT_EQ(seconds(5), budget_.GetFigures(now_).waited);  // while it waits, too
    EXPECT_EQ(Answer::Go, AskForMore(2, 2));
    EXPECT_EQ(1U, budget_.GetFigures().givenUp);
    EXPECT_EQ(1U, budget_.GetFigures().waits);
    EXPECT_EQ(seconds(5), budget_.GetFigures().waited);
  }


  TEST_F(IngestBudgetTest, WhoseSenderIsGoneGetsNothing)
  {
    SetRoom(2);
    Take(1, 2);
    EXPECT_EQ(Answer::Wait, Ask(2, 1));
    EXPECT_EQ(Answer::Wait, Ask(3, 1));

    budget_.BreakOff(2, now_);
    budget_.Close(1, now_);
    EXPECT_EQ(Answer::BreakOff, Ask(2, 1));
    EXPECT_EQ(Answer::BreakOff, Ask(2, 1));
    EXPECT_EQ(1U, budget_.GetFigures().brokenOff);
    EXPECT_EQ(0U, CountHeld());
    EXPECT_EQ(Answer::Go, Ask(3, 1));

    budget_.Close(2, now_);
    EXPECT_EQ(1U, budget_.GetFigures().inFlight);
  }


  TEST_F(IngestBudgetTest, WhenOrthancStopsWhoWaitsGetsNothingAndTheOthersGoOn)
  {
    SetRoom(2);
    Take(1, 2);

    for (int place = 2; place <= 10; place++)
    {
      EXPECT_EQ(Answer::Wait, Ask(place, 1));
    }

    budget_.Stop();
    budget_.Close(1, now_);

    for (int place = 2; place <= 10; place++)
    {
      EXPECT_EQ(Answer::BreakOff, Ask(place, 1));
      budget_.Close(place, now_);
    }

    EXPECT_EQ(0U, CountHeld());
    EXPECT_EQ(0U, budget_.GetFigures().waiting);
    EXPECT_EQ(9U, budget_.GetFigures().brokenOff);

    Take(11, 2);
    Take(11, 3);  // the oldest
    EXPECT_EQ(Answer::BreakOff, Ask(12, 1));
  }


  TEST_F(IngestBudgetTest, AnUploadWaitsForAllOfItAtOnce)
  {
    SetRoom(10);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(1, PIECE, now_).answer);
    EXPECT_EQ(0U, budget_.GetFigures().inFlight);

    EXPECT_EQ(Answer::Go, budget_.AskForAll(1, 6 * PIECE, now_).answer);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 5 * PIECE, now_).answer);
    now_ += seconds(10);  // it gets no sip
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 5 * PIECE, now_).answer);
    EXPECT_EQ(6U, CountHeld());

    // Its pieces are paid for, also where the header has made it a little larger
    EXPECT_EQ(Answer::Go, Ask(1, 6));
    EXPECT_EQ(6U, CountHeld());

    budget_.Close(1, now_);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(2, 5 * PIECE, now_).answer);
    EXPECT_EQ(5U, CountHeld());
  }


  TEST_F(IngestBudgetTest, AnUploadThatIsLargerThanTheBudgetGetsOnByItself)
  {
    SetRoom(4);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(1, 50 * PIECE, now_).answer);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 50 * PIECE, now_).answer);
    budget_.Close(1, now_);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(2, 50 * PIECE, now_).answer);
  }


  TEST_F(IngestBudgetTest, TheOldestLosesItsRightWithoutProgress)
  {
    SetRoom(2);
    Take(1, 2);
    EXPECT_EQ(Answer::Wait, Ask(2, 1));
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(3, 2 * PIECE, now_).answer);
    now_ += IngestBudget::PATIENCE + milliseconds(1);

    EXPECT_EQ(Answer::Wait, budget_.AskForAll(3, 2 * PIECE, now_).answer);
    EXPECT_EQ(Answer::Go, AskForMore(2, 1));
    EXPECT_EQ(Answer::Go, Ask(2, 2));
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(3, 2 * PIECE, now_).answer);  // one at a time

    EXPECT_EQ(Answer::Go, Ask(1, 2));  // there it is again
  }


  // Each takes all that it will at once, and may stall as well
  TEST_F(IngestBudgetTest, OneUploadAtATimeGoesBeforeThoseThatDoNotComeOn)
  {
    const auto ask = [this](int place)
    {
      return budget_.AskForAll(place, 50 * PIECE, now_).answer;
    };

    budget_.Set(4 * COST, seconds(600));
    EXPECT_EQ(Answer::Go, ask(1));
    EXPECT_EQ(Answer::Wait, ask(2));
    EXPECT_EQ(Answer::Wait, ask(3));
    now_ += IngestBudget::PATIENCE + milliseconds(1);
    EXPECT_EQ(Answer::Go, ask(2));
    now_ += IngestBudget::PATIENCE + milliseconds(1);
    EXPECT_EQ(Answer::Wait, ask(3));
    EXPECT_EQ(100U, CountHeld());

    budget_.Close(2, now_);
    EXPECT_EQ(Answer::Go, ask(3));
    EXPECT_EQ(100U, CountHeld());
    EXPECT_EQ(0U, budget_.GetFigures().givenUp);
  }


  TEST_F(IngestBudgetTest, UploadsThatWaitForOneThatStallsStandInNoOtherMessagesWay)
  {
    const auto ask = [this](int place)
    {
      return budget_.AskForAll(place, 50 * PIECE, now_).answer;
    };
    const auto askForAPiece = [this](std::uint64_t pieces)
    {
      const IngestBudget::Reply reply = budget_.AskForPiece(4, pieces * PIECE, now_, {});
      return reply.answer == Answer::Go && reply.upTo == (pieces + 1) * PIECE;
    };

    budget_.Set(4 * COST, seconds(600));
    EXPECT_EQ(Answer::Go, ask(1));
    EXPECT_EQ(Answer::Wait, ask(2));
    EXPECT_EQ(Answer::Wait, ask(3));
    EXPECT_EQ(Answer::Wait, Ask(4, 1));
    now_ += IngestBudget::PATIENCE + milliseconds(1);
    EXPECT_EQ(Answer::Go, ask(2));
    EXPECT_EQ(Answer::Wait, ask(3));
    EXPECT_FALSE(askForAPiece(1));  // as the second is at work
    now_ += IngestBudget::PATIENCE + milliseconds(1);
    EXPECT_EQ(Answer::Wait, ask(3));
    EXPECT_TRUE(askForAPiece(2));
    EXPECT_TRUE(askForAPiece(3));
    EXPECT_EQ(0U, budget_.GetFigures().givenUp);
  }


  TEST_F(IngestBudgetTest, AnUploadThatWaitedUntilTheBudgetWasSwitchedOffCountsIfThereIsOneAgain)
  {
    SetRoom(4);
    TakeForGood(1, 4);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 50 * PIECE, now_).answer);
    SetRoom(0);
    const IngestBudget::Reply reply = budget_.AskForAll(2, 50 * PIECE, now_);
    EXPECT_EQ(Answer::Go, reply.answer);
    EXPECT_EQ(PIECE, reply.upTo);  // it shows that it comes on then
    SetRoom(4);
    EXPECT_EQ(54U, CountHeld());
    EXPECT_EQ(Answer::Go, Ask(2, 1));
    budget_.Close(2, now_);
    EXPECT_EQ(4U, CountHeld());
  }


  TEST_F(IngestBudgetTest, AMessageThatIsAllHereIsAtWorkHoweverLongThatTakes)
  {
    SetRoom(2);
    Take(1, 2);
    budget_.MarkComplete(1, now_);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 5 * PIECE, now_).answer);
    now_ += std::chrono::seconds(50);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 5 * PIECE, now_).answer);

    budget_.Close(1, now_);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(2, 5 * PIECE, now_).answer);
    budget_.Close(2, now_);

    // A small one does not count, and says nothing about the next one on its connection
    budget_.MarkComplete(3, now_);
    Take(3, 2);
    now_ += IngestBudget::PATIENCE + milliseconds(1);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(4, 5 * PIECE, now_).answer);
  }


  TEST_F(IngestBudgetTest, WhoWaitsIsReadASipNowAndThen)
  {
    constexpr std::uint64_t SIP = SenderSips::SIP;
    budget_.Set(4 * COST, seconds(600));
    TakeForGood(1, 4);
    std::uint64_t received = PIECE;
    IngestBudget::Sender sender;
    sender.sip = SIP / 4;

    const auto wait = [&](Duration silence, std::uint64_t sip)
    {
      EXPECT_EQ(Answer::Wait, budget_.AskForPiece(2, received, now_, sender).answer);
      now_ += silence - milliseconds(1);
      EXPECT_EQ(Answer::Wait, budget_.AskForPiece(2, received, now_, sender).answer);
      now_ += milliseconds(1);
      EXPECT_EQ(Answer::Go, budget_.AskForPiece(2, received, now_, sender).answer);
      received += sip;
      EXPECT_EQ(4 * COST + received * IngestBudget::COPIES, budget_.GetFigures().held);
    };

    // Before Orthanc as a sender gives up (10 s), and pynetdicom (30 s)
    wait(seconds(1), SIP);
    wait(seconds(2), SIP);
    wait(seconds(4), SIP);
    wait(seconds(8), SIP);

    // And seldom, but so much that DCMTK can write something in 60 s: a third of 4 MB
    wait(SenderSips::SILENCE, SIP);
    wait(SenderSips::SILENCE, SIP);

    // Or as much as makes the kernel tell the sender of room
    sender.sip = 2 * SIP;
    wait(SenderSips::SILENCE, 2 * SIP);

    // More often, a smaller one does, but that of a PDU
    sender.sip = 0;
    budget_.SetReadTimeouts(seconds(15), seconds(30));
    wait(seconds(10), SIP / 2);
    budget_.SetReadTimeouts(milliseconds(1500), seconds(30));
    wait(seconds(1), SenderSips::LEAST_SIP);

    // CivetWeb has a time-out of its own
    sender.isHttp = true;
    budget_.SetReadTimeouts(seconds(30), seconds(15));
    wait(seconds(10), SIP / 2);
    EXPECT_EQ(1U, budget_.GetFigures().waits);
    EXPECT_EQ(0U, budget_.GetFigures().givenUp);
  }


  // It would wait for its answer, and give up
  TEST_F(IngestBudgetTest, WhoseRestIsAllHereIsReadToItsEnd)
  {
    constexpr std::uint64_t REST = 5'000'000;
    SetRoom(4);
    Take(1, 4);
    IngestBudget::Sender sender;
    EXPECT_EQ(Answer::Wait, budget_.AskForPiece(2, PIECE, now_, sender).answer);
    sender.rest = REST;
    const IngestBudget::Reply reply = budget_.AskForPiece(2, PIECE, now_, sender);
    EXPECT_EQ(Answer::Go, reply.answer);
    EXPECT_EQ(PIECE + REST, reply.upTo);
  }


  // However long it has waited, and what was read of it meanwhile
  TEST_F(IngestBudgetTest, WhoseRestIsAllHereIsReadToItsEndAfterManySips)
  {
    constexpr std::uint64_t REST = 10'000;
    budget_.Set(4 * COST, seconds(600));
    TakeForGood(1, 4);
    std::uint64_t received = PIECE;
    IngestBudget::Sender sender;

    for (unsigned sip = 0; sip < SenderSips::FIRST_SIPS; sip++)
    {
      EXPECT_EQ(Answer::Wait, budget_.AskForPiece(2, received, now_, sender).answer);
      now_ += seconds(10);
      received = budget_.AskForPiece(2, received, now_, sender).upTo;
    }

    const auto readRest = [&]
    {
      sender.rest = 0;
      EXPECT_EQ(Answer::Wait, budget_.AskForPiece(2, received, now_, sender).answer);
      sender.rest = REST;
      const IngestBudget::Reply reply = budget_.AskForPiece(2, received, now_, sender);
      received += reply.answer == Answer::Go ? REST : 0;
      EXPECT_EQ(reply.answer == Answer::Go ? received : 0, reply.upTo);
      return reply.answer;
    };

    // After each of them there was more
    for (unsigned rest = 0; rest < SenderSips::MOST_RESTS; rest++)
    {
      EXPECT_EQ(Answer::Go, readRest()) << rest;
    }

    EXPECT_EQ(Answer::Wait, readRest());
    now_ += SenderSips::SILENCE;
    EXPECT_EQ(Answer::Go, budget_.AskForPiece(2, received, now_, sender).answer);

    // What was for one message is for the next one on its connection again
    budget_.Close(2, now_);
    received = PIECE;
    EXPECT_EQ(Answer::Go, readRest());
  }


  // Or who sends in bursts would never be held back
  TEST_F(IngestBudgetTest, WhoGetsOnWithoutRoomHasNoMoreRestsForThat)
  {
    budget_.Set(4 * COST, seconds(600));
    TakeForGood(1, 4);
    std::uint64_t received = PIECE;
    IngestBudget::Sender sender;
    sender.rest = 10'000;

    for (unsigned rest = 0; rest < SenderSips::MOST_RESTS; rest++)
    {
      EXPECT_EQ(Answer::Wait, budget_.AskForPiece(2, received, now_, sender).answer);
      received = budget_.AskForPiece(2, received, now_, sender).upTo;
    }

    EXPECT_EQ(Answer::Wait, budget_.AskForPiece(2, received, now_, sender).answer);
    now_ += seconds(600);
    received = budget_.AskForPiece(2, received, now_, sender).upTo;
    EXPECT_EQ(1U, budget_.GetFigures(now_).givenUp);
    EXPECT_EQ(Answer::Wait, budget_.AskForPiece(2, received, now_, sender).answer);
    EXPECT_EQ(Answer::Wait, budget_.AskForPiece(2, received, now_, sender).answer);

    // It may be near its end now, and is read a sip soon
    now_ += SenderSips::FIRST_SILENCE;
    EXPECT_EQ(Answer::Go, budget_.AskForPiece(2, received, now_, sender).answer);
  }


  // It waits anew
  TEST_F(IngestBudgetTest, WhoHasHadRoomAtOnceIsReadASipSoon)
  {
    budget_.Set(4 * COST, seconds(600));
    TakeForGood(1, 4);

    for (unsigned sip = 0; sip < SenderSips::FIRST_SIPS; sip++)
    {
      EXPECT_EQ(Answer::Wait, Ask(2, 1));
      now_ += seconds(10);
      EXPECT_EQ(Answer::Go, Ask(2, 1));
    }

    budget_.CloseParts(2, PIECE, now_);
    budget_.Set(6 * COST, seconds(600));
    EXPECT_EQ(Answer::Go, Ask(2, 1));
    EXPECT_EQ(Answer::Wait, Ask(2, 2));
    now_ += SenderSips::FIRST_SILENCE;
    EXPECT_EQ(Answer::Go, Ask(2, 2));
  }


  // DCMTK breaks off what it has read nothing of in this time
  TEST_F(IngestBudgetTest, ASipComesInTimeForThoseWhoRead)
  {
    budget_.Set(4 * COST, seconds(600));
    TakeForGood(1, 4);
    int place = 2;

    const auto findLongestSilence = [&](Duration timeout)
    {
      budget_.SetReadTimeouts(timeout, seconds(30));
      Duration longest = Duration::zero();
      std::uint64_t received = PIECE;

      for (unsigned sip = 0; sip < SenderSips::FIRST_SIPS + 2; sip++)
      {
        const TimePoint since = now_;
        IngestBudget::Reply reply = budget_.AskForPiece(place, received, now_, {});

        while (reply.answer != Answer::Go)
        {
          now_ += milliseconds(100);
          reply = budget_.AskForPiece(place, received, now_, {});
        }

        received = reply.upTo;
        longest = std::max(longest, now_ - since);
      }

      budget_.Close(place, now_);
      return longest;
    };

    EXPECT_EQ(seconds(20), findLongestSilence(seconds(30)));
    EXPECT_EQ(seconds(20), findLongestSilence(seconds(300)));
    EXPECT_EQ(seconds(20), findLongestSilence(seconds(0)));
    EXPECT_EQ(seconds(10), findLongestSilence(seconds(15)));
    EXPECT_EQ(seconds(2), findLongestSilence(seconds(3)));
  }


  // Or it would be kept from its end twice, and broken off
  TEST_F(IngestBudgetTest, ASipIsNoLessThanAPdu)
  {
    budget_.Set(4 * COST, seconds(600));
    TakeForGood(1, 4);
    std::uint64_t received = PIECE;
    IngestBudget::Sender sender;
    sender.sip = 1000;
    std::uint64_t sip = 0;

    for (unsigned i = 0; i <= SenderSips::FIRST_SIPS; i++)
    {
      EXPECT_EQ(Answer::Wait, budget_.AskForPiece(2, received, now_, sender).answer);
      now_ += SenderSips::SILENCE;
      sip = budget_.AskForPiece(2, received, now_, sender).upTo - received;
      received += sip;
    }

    EXPECT_EQ(1048576U, sip);
  }


  TEST_F(IngestBudgetTest, OnlySoManyWaitAtOnce)
  {
    budget_.SetPlacesInLine(2, 1);
    SetRoom(4);
    Take(1, 4);
    EXPECT_EQ(Answer::Wait, Ask(2, 1));
    EXPECT_EQ(Answer::Wait, Ask(3, 1));
    EXPECT_EQ(Answer::Go, Ask(4, 1));
    EXPECT_EQ(Answer::Go, Ask(4, 2));
    EXPECT_EQ(1U, budget_.GetFigures(now_).passedFullLine);  // one message

    // By HTTP, others are Orthanc's threads
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(5, 2 * PIECE, now_).answer);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(6, 2 * PIECE, now_).answer);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(5, 2 * PIECE, now_).answer);
    EXPECT_EQ(3U, budget_.GetFigures(now_).waiting);
    EXPECT_EQ(2U, budget_.GetFigures(now_).passedFullLine);
    EXPECT_EQ(0U, budget_.GetFigures(now_).givenUp);  // they have not waited for long

    budget_.Close(4, now_);
    EXPECT_EQ(Answer::Go, Ask(4, 1));  // another message
    EXPECT_EQ(3U, budget_.GetFigures(now_).passedFullLine);
    Take(4, 3);

    budget_.Close(2, now_);
    EXPECT_EQ(Answer::Wait, Ask(4, 3));
  }


  TEST_F(IngestBudgetTest, WhereTheLineIsFullTheUploadThatHasWaitedLongestGetsOn)
  {
    const auto askForAll = [this](int place)
    {
      return budget_.AskForAll(place, 2 * PIECE, now_).answer;
    };

    budget_.SetPlacesInLine(0, 2);
    SetRoom(4);
    TakeForGood(1, 4);

    for (int place = 2; place <= 5; place++)
    {
      EXPECT_EQ(Answer::Wait, askForAll(place));
    }

    EXPECT_EQ(Answer::Wait, askForAll(5));
    EXPECT_EQ(Answer::Wait, askForAll(4));
    EXPECT_EQ(Answer::Go, askForAll(3));
    EXPECT_EQ(Answer::Go, askForAll(2));
    EXPECT_EQ(2U, budget_.GetFigures(now_).waiting);
    EXPECT_EQ(4U, budget_.GetFigures(now_).waits);
    EXPECT_EQ(2U, budget_.GetFigures(now_).passedFullLine);
    EXPECT_EQ(0U, budget_.GetFigures(now_).givenUp);

    // One that is to get on is gone
    EXPECT_EQ(Answer::Wait, askForAll(6));
    budget_.BreakOff(4, now_);
    EXPECT_EQ(Answer::BreakOff, askForAll(4));
    EXPECT_EQ(Answer::Wait, askForAll(5));
    EXPECT_EQ(Answer::Wait, askForAll(7));
    EXPECT_EQ(Answer::Go, askForAll(5));
    EXPECT_EQ(2U, budget_.GetFigures(now_).waiting);

    // Or nobody waits
    budget_.SetPlacesInLine(0, 0);
    budget_.Close(6, now_);
    budget_.Close(7, now_);
    EXPECT_EQ(Answer::Go, askForAll(8));
  }


  // Those that keep coming would hold it up
  TEST_F(IngestBudgetTest, AnUploadThatWaitsInAFullLineGetsOnThoughOthersKeepComing)
  {
    constexpr std::uint64_t LARGE = 64 * PIECE;
    budget_.SetPlacesInLine(0, 1);
    SetRoom(4);
    TakeForGood(1, 4);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, LARGE, now_).answer);

    for (int place = 3; place < 10; place++)
    {
      now_ += seconds(1);
      EXPECT_EQ(Answer::Wait, budget_.AskForAll(place, LARGE, now_).answer) << place;
      EXPECT_EQ(Answer::Go, budget_.AskForAll(place - 1, LARGE, now_).answer) << place;
    }
  }


  // Or they would be let on in turn, as much as without a budget
  TEST_F(IngestBudgetTest, WhoIsReadASipKeepsItsPlaceInAFullLine)
  {
    budget_.SetPlacesInLine(1, 1);
    SetRoom(4);
    TakeForGood(1, 4);
    EXPECT_EQ(Answer::Wait, Ask(2, 1));
    EXPECT_EQ(Answer::Go, Ask(3, 1));
    now_ += SenderSips::FIRST_SILENCE;

    const IngestBudget::Reply sip = budget_.AskForPiece(2, PIECE, now_, {});
    EXPECT_EQ(Answer::Go, sip.answer);
    EXPECT_EQ(PIECE + SenderSips::SIP, sip.upTo);
    EXPECT_EQ(Answer::Go, Ask(3, 2));
    EXPECT_EQ(Answer::Wait, budget_.AskForPiece(2, sip.upTo, now_, {}).answer);
    EXPECT_EQ(1U, budget_.GetFigures(now_).passedFullLine);
    EXPECT_EQ(1U, budget_.GetFigures(now_).waits);
  }


  TEST_F(IngestBudgetTest, WhoGetsOnByAPieceASecondKeepsItsPlaceInAFullLine)
  {
    budget_.SetPlacesInLine(1, 1);
    budget_.Set(4 * COST, seconds(5));
    TakeForGood(1, 4);
    EXPECT_EQ(Answer::Wait, Ask(2, 1));
    now_ += seconds(5);
    EXPECT_EQ(Answer::Go, AskForMore(2, 1));
    EXPECT_EQ(Answer::Go, Ask(3, 1));  // it finds the line full
    EXPECT_EQ(Answer::Wait, Ask(2, 2));
    EXPECT_EQ(1U, budget_.GetFigures(now_).passedFullLine);
  }


  TEST_F(IngestBudgetTest, ThePlaceInALineIsFreeOnceThereIsRoomOrTheMessageIsOver)
  {
    budget_.SetPlacesInLine(1, 1);

    const auto waitAndSip = [this](int place)
    {
      SetRoom(4);
      EXPECT_EQ(Answer::Wait, Ask(place, 1));
      now_ += SenderSips::FIRST_SILENCE;
      EXPECT_EQ(Answer::Go, Ask(place, 1));
    };

    const auto isFree = [this]
    {
      SetRoom(4);
      const bool isFree = Ask(10, 1) == Answer::Wait;
      budget_.Close(10, now_);
      return isFree;
    };

    SetRoom(4);
    TakeForGood(1, 4);
    waitAndSip(2);
    EXPECT_FALSE(isFree());
    budget_.Close(2, now_);
    EXPECT_TRUE(isFree());

    waitAndSip(2);
    SetRoom(20);
    EXPECT_EQ(Answer::Go, Ask(2, 2));
    EXPECT_TRUE(isFree());

    waitAndSip(3);
    SetRoom(0);
    EXPECT_EQ(Answer::Go, Ask(3, 2));
    EXPECT_TRUE(isFree());

    waitAndSip(4);
    budget_.CloseParts(4, PIECE, now_);
    EXPECT_TRUE(isFree());

    waitAndSip(5);
    EXPECT_EQ(Answer::Wait, Ask(5, 2));
    budget_.BreakOff(5, now_);
    EXPECT_TRUE(isFree());
  }


  // A stranger that keeps the oldest message's place by as little as is progress
  TEST_F(IngestBudgetTest, WhoIsSlowerThanItMayBeGoesToTheEndOfTheLine)
  {
    SetRoom(4);
    Take(1, 4);
    std::uint64_t pieces = 4;

    for (Duration held = seconds(15); held < BOUND; held += seconds(15))
    {
      now_ += seconds(15);
      EXPECT_EQ(Answer::Go, Ask(1, pieces++));
      EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 8 * PIECE, now_).answer);
    }

    now_ += seconds(15);
    EXPECT_EQ(Answer::Wait, Ask(1, pieces));
    EXPECT_EQ(Answer::Go, budget_.AskForAll(2, 8 * PIECE, now_).answer);
    EXPECT_EQ(0U, budget_.GetFigures(now_).givenUp);
  }


  TEST_F(IngestBudgetTest, WhoIsFastEnoughKeepsItsPlace)
  {
    SetRoom(4);
    Take(1, 4);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 2 * PIECE, now_).answer);

    for (std::uint64_t pieces = 4; pieces < 64; pieces++)
    {
      now_ += seconds(4);
      EXPECT_EQ(Answer::Go, Ask(1, pieces));
      budget_.Close(2, now_);
      EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 2 * PIECE, now_).answer);
    }
  }


  TEST_F(IngestBudgetTest, PartsThatAreStoredAreFree)
  {
    SetRoom(4);
    Take(1, 4);
    EXPECT_TRUE(budget_.CloseParts(1, 4 * PIECE, now_));
    EXPECT_EQ(0U, CountHeld());

    EXPECT_EQ(Answer::Go, budget_.AskForAll(1, 4 * PIECE, now_).answer);
    EXPECT_FALSE(budget_.CloseParts(1, 4 * PIECE, now_));
    EXPECT_EQ(4U, CountHeld());
  }


  TEST_F(IngestBudgetTest, ARequestOfManyPartsWaitsNoLongerThanOtherMessages)
  {
    budget_.Set(4 * COST, seconds(5));
    TakeForGood(1, 4);
    EXPECT_EQ(Answer::Wait, Ask(2, 1));
    EXPECT_EQ(Answer::Wait, Ask(3, 1));
    now_ += seconds(4);
    budget_.Set(6 * COST, seconds(5));
    EXPECT_EQ(Answer::Go, AskForMore(2, 1));
    EXPECT_TRUE(budget_.CloseParts(2, 2 * PIECE, now_));
    EXPECT_EQ(Answer::Go, AskForMore(3, 1));

    EXPECT_EQ(Answer::Wait, Ask(2, 1));  // its next part
    now_ += seconds(1);
    EXPECT_EQ(Answer::Go, AskForMore(2, 1));
    EXPECT_EQ(1U, budget_.GetFigures(now_).givenUp);
  }


  TEST_F(IngestBudgetTest, APartThatIsAllHereIsAtWorkUntilTheNextOneComes)
  {
    SetRoom(4);
    Take(1, 4);
    budget_.MarkComplete(1, now_);
    now_ += IngestBudget::PATIENCE + milliseconds(1);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 5 * PIECE, now_).answer);
    Take(1, 5);
    now_ += IngestBudget::PATIENCE + milliseconds(1);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(2, 5 * PIECE, now_).answer);
  }


  TEST_F(IngestBudgetTest, APartThatIsOverIsFreeThoughNothingWasStored)
  {
    SetRoom(4);
    Take(1, 4);
    EXPECT_FALSE(budget_.CloseCompletePart(1, 4 * PIECE, now_));
    EXPECT_EQ(4U, CountHeld());
    EXPECT_TRUE(budget_.MarkComplete(1, now_));
    EXPECT_TRUE(budget_.CloseCompletePart(1, 4 * PIECE, now_));
    EXPECT_EQ(0U, CountHeld());
    EXPECT_FALSE(budget_.CloseCompletePart(1, 4 * PIECE, now_));
    EXPECT_EQ(1U, budget_.GetFigures().inFlight);

    // It is not at work any more
    EXPECT_EQ(Answer::Go, budget_.AskForAll(2, 4 * PIECE, now_).answer);
    EXPECT_FALSE(budget_.MarkComplete(2, now_));
    EXPECT_FALSE(budget_.CloseCompletePart(2, 4 * PIECE, now_));
    EXPECT_FALSE(budget_.MarkComplete(3, now_));
    EXPECT_FALSE(budget_.CloseCompletePart(3, PIECE, now_));
    EXPECT_FALSE(budget_.CloseCompletePart(-1, PIECE, now_));
    EXPECT_EQ(4U, CountHeld());
  }


  TEST_F(IngestBudgetTest, APartThatTookLongToStoreLeavesTheOldestItsRight)
  {
    SetRoom(2);
    Take(1, 2);
    budget_.MarkComplete(1, now_);
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 5 * PIECE, now_).answer);
    now_ += seconds(50);
    EXPECT_TRUE(budget_.CloseParts(1, 4 * PIECE, now_));
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 5 * PIECE, now_).answer);
    now_ += IngestBudget::PATIENCE + milliseconds(1);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(2, 5 * PIECE, now_).answer);
  }


  // Or a request that holds nothing would keep the others for as long as it lasts
  TEST_F(IngestBudgetTest, PartsThatAreTooSmallToCountAreNoProgress)
  {
    SetRoom(4);
    Take(1, 2);
    budget_.MarkComplete(1, now_);
    EXPECT_TRUE(budget_.CloseParts(1, 2 * PIECE, now_));
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 5 * PIECE, now_).answer);

    for (int part = 0; part < 2; part++)
    {
      now_ += seconds(19);
      budget_.MarkComplete(1, now_);
      EXPECT_TRUE(budget_.CloseParts(1, 1000, now_));
    }

    EXPECT_EQ(Answer::Go, budget_.AskForAll(2, 5 * PIECE, now_).answer);
  }


  TEST_F(IngestBudgetTest, WhoseStoredPartsAreSlowerThanTheyMayBeGoesToTheEndOfTheLine)
  {
    SetRoom(4);
    Take(1, 2);

    for (int part = 0; part < 3; part++)
    {
      now_ += milliseconds(19'500);
      EXPECT_EQ(Answer::Go, Ask(1, 1));
      budget_.MarkComplete(1, now_);
      EXPECT_TRUE(budget_.CloseParts(1, PIECE + 1000, now_));
      EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 5 * PIECE, now_).answer);
    }

    now_ += milliseconds(19'500);
    EXPECT_EQ(Answer::Wait, Ask(1, 1));
    EXPECT_EQ(Answer::Go, budget_.AskForAll(2, 5 * PIECE, now_).answer);
    EXPECT_EQ(0U, budget_.GetFigures(now_).givenUp);
  }


  TEST_F(IngestBudgetTest, WhosePartsComeFastKeepsItsPlaceHoweverLongTheyTakeToStore)
  {
    SetRoom(4);
    Take(1, 2);

    for (int part = 0; part < 70; part++)
    {
      now_ += seconds(1);
      EXPECT_EQ(Answer::Go, Ask(1, 1)) << part;
      budget_.MarkComplete(1, now_);
      now_ += seconds(15);
      EXPECT_TRUE(budget_.CloseParts(1, 2 * PIECE, now_));
      budget_.Close(2, now_);
      EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 5 * PIECE, now_).answer);
    }
  }


  // Prometheus takes one that falls for one that began anew
  TEST_F(IngestBudgetTest, WhatWasWaitedNeverFalls)
  {
    SetRoom(2);
    Take(1, 2);
    EXPECT_EQ(Answer::Wait, Ask(2, 1));
    const TimePoint before = now_ + seconds(1);
    EXPECT_EQ(seconds(2), budget_.GetFigures(now_ + seconds(2)).waited);
    budget_.Close(2, before);
    EXPECT_EQ(seconds(2), budget_.GetFigures(before).waited);
    EXPECT_EQ(Answer::Wait, Ask(3, 1));
    EXPECT_EQ(seconds(4), budget_.GetFigures(now_ + seconds(3)).waited);
  }


  TEST_F(IngestBudgetTest, WhatIsClosedWhileItWaitsStandsInNobodysWay)
  {
    SetRoom(2);
    Take(1, 2);
    EXPECT_EQ(Answer::Wait, Ask(2, 1));
    EXPECT_EQ(Answer::Wait, Ask(3, 1));
    budget_.Close(2, now_);
    budget_.Close(1, now_);
    EXPECT_EQ(Answer::Go, Ask(3, 1));
    budget_.Clear();
    EXPECT_EQ(0U, CountHeld());
    EXPECT_EQ(0U, budget_.GetFigures().inFlight);
  }


  TEST_F(IngestBudgetTest, DescriptorsBeyondItsEndAreNotBudgeted)
  {
    SetRoom(2);
    EXPECT_EQ(Answer::Go, Ask(100, 1000));
    EXPECT_EQ(Answer::Go, Ask(-1, 1000));
    budget_.Close(100, now_);
    budget_.Close(-1, now_);
    EXPECT_EQ(0U, CountHeld());
  }


  // A gzip body or a ZIP archive
  TEST_F(IngestBudgetTest, WhatAnUploadIsInflatedToCountsWithoutAWait)
  {
    SetRoom(4);
    ASSERT_EQ(Answer::Go, budget_.AskForAll(1, 3 * PIECE, now_).answer);
    budget_.CountInstance(1, 3 * PIECE, now_);
    EXPECT_EQ(3U, CountHeld());
    budget_.CountInstance(1, 10 * PIECE, now_);
    budget_.MarkComplete(1, now_);
    EXPECT_EQ(10U, CountHeld());
    EXPECT_EQ(Answer::Wait, budget_.AskForAll(2, 2 * PIECE, now_).answer);

    budget_.CountInstance(1, 5 * PIECE, now_);  // the archive itself is still there
    EXPECT_EQ(10U, CountHeld());
    budget_.Close(1, now_);
    EXPECT_EQ(Answer::Go, budget_.AskForAll(2, 2 * PIECE, now_).answer);
    EXPECT_EQ(2U, CountHeld());
    EXPECT_EQ(0U, budget_.GetFigures().givenUp);
  }


  TEST_F(IngestBudgetTest, AnInflatedUploadThatIsTheOldestKeepsTheOthersUntilItIsStored)
  {
    SetRoom(4);
    budget_.CountInstance(1, 10 * PIECE, now_);
    EXPECT_FALSE(budget_.IsIdle());
    EXPECT_TRUE(budget_.MarkComplete(1, now_));
    EXPECT_EQ(Answer::Wait, Ask(2, 1));
    now_ += 2 * IngestBudget::PATIENCE;
    EXPECT_EQ(SenderSips::SIP, budget_.AskForPiece(2, PIECE, now_, {}).upTo - PIECE);
    EXPECT_TRUE(budget_.CloseParts(1, 1000, now_));
    EXPECT_EQ(Answer::Go, AskForMore(2, 1));
  }


  TEST_F(IngestBudgetTest, NoInstanceCountsThatIsSmallOrWithoutABudgetOrWithoutAPlace)
  {
    budget_.CountInstance(1, 10 * PIECE, now_);
    EXPECT_TRUE(budget_.IsIdle());
    SetRoom(4);
    budget_.CountInstance(1, PIECE, now_);
    budget_.CountInstance(-1, 10 * PIECE, now_);
    budget_.CountInstance(100, 10 * PIECE, now_);
    EXPECT_EQ(0U, budget_.GetFigures().inFlight);
    EXPECT_EQ(0U, CountHeld());
  }


#if !defined(PERF_SANITIZED)
  TEST_F(IngestBudgetTest, AllocatesNothing)
  {
    SetRoom(2);
    const std::size_t before = Allocations::count;
    Take(1, 2);
    EXPECT_EQ(Answer::Wait, Ask(2, 1));
    budget_.CountInstance(3, 2 * PIECE, now_);
    budget_.Close(1, now_);
    budget_.Close(2, now_);
    budget_.Close(3, now_);
    EXPECT_EQ(before, Allocations::count);
  }
#endif


  // With threads as Orthanc's: they never hold more than the limit and what the oldest takes
  TEST(IngestBudgetThreads, KeepToTheLimitAndAllEnd)
  {
    constexpr int THREADS = 8;
    constexpr int MESSAGES = 50;
    constexpr std::uint64_t PIECES = 6;
    constexpr std::uint64_t ROOM = 10;

    IngestBudget budget(THREADS + 1);
    budget.Set(ROOM * COST, seconds(600));
    std::atomic<std::uint64_t> most = 0;
    ASSERT_EQ(Answer::Go, budget.AskForAll(THREADS, ROOM * PIECE, Clock::now()).answer);
    std::vector<std::thread> threads;
    threads.reserve(THREADS);

    for (int place = 0; place < THREADS; place++)
    {
      threads.emplace_back(
          [&budget, &most, place]
          {
            for (int message = 0; message < MESSAGES; message++)
            {
              for (std::uint64_t piece = 1; piece < PIECES; piece++)
              {
                while (budget.AskForPiece(place, piece * PIECE, Clock::now(), {}).answer !=
                       Answer::Go)
                {
                  std::this_thread::yield();
                }

                const std::uint64_t held = budget.GetFigures().held;
                std::uint64_t known = most.load();

                while (held > known && !most.compare_exchange_weak(known, held))
                {
                  // "known" is what it is now
                }
              }

              budget.Close(place, Clock::now());
            }
          });
    }

    while (budget.GetFigures().waiting != THREADS)
    {
      std::this_thread::yield();
    }

    budget.Close(THREADS, Clock::now());

    for (std::thread& thread : threads)
    {
      thread.join();
    }

    const BudgetFigures figures = budget.GetFigures();
    EXPECT_EQ(0U, figures.held);
    EXPECT_EQ(0U, figures.inFlight);
    EXPECT_EQ(0U, figures.waiting);
    EXPECT_EQ(0U, figures.givenUp);
    EXPECT_LE(std::uint64_t{THREADS}, figures.waits);

    // Whoever is the oldest next may have to go beyond, too
    EXPECT_LE(most.load(), (ROOM + 2 * PIECES) * COST);
  }
}
