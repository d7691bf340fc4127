// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/EventQueue.h"

#include "Network/RecordedJournal.h"

#include <gtest/gtest.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::milliseconds;
    using Kind = ProbeEvent::Kind;
    using Outcomes = std::vector<AssociationOutcome>;
    constexpr auto REFUSED = AssociationOutcome::Refused;
    constexpr auto TIMED_OUT = AssociationOutcome::TimedOut;

    PeerAddress MakeAddress(std::uint8_t last, std::uint16_t port)
    {
      PeerAddress address;
      address.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last};
      address.port = port;
      return address;
    }

    class EventQueueTest : public testing::Test
    {
    protected:
      EventQueueTest()
      {
        events_.SetDestinations({{"CT", HashHost("10.0.0.1"), 104},
                                 {"MR", HashHost("10.0.0.1"), 11112},
                                 {"PACS", HashHost("pacs"), 104},
                                 {"cloud", HashHost("cloud"), 443, false, true},
                                 {"other", HashHost("other"), 443, false, true}});
        Learn("cloud", MakeAddress(1, 443));
        Learn("cloud", MakeAddress(2, 443));
        Learn("other", MakeAddress(3, 443));
      }

      void Learn(const std::string& host, const PeerAddress& address)
      {
        ProbeEvent event;
        event.kind = Kind::Resolved;
        event.host = HashHost(host);
        event.address = address;
        events_.Push(event);
      }

      // By this thread, to an address of a peer
      void Push(Kind kind, std::uint8_t address, int begin, int end,
                AssociationOutcome outcome = REFUSED, std::uint64_t thread = 1)
      {
        ProbeEvent call;
        call.kind = kind;
        call.isDicom = kind != Kind::Connected;
        call.thread = thread;
        call.address = MakeAddress(address, 443);
        call.endedAt = TimePoint(milliseconds(end));
        call.length = milliseconds(end - begin);
        call.outcome = outcome;
        events_.Push(call);
      }

      Outcomes Take(int at)
      {
        events_.Drain(journal_, TimePoint(milliseconds(at)));
        Outcomes outcomes;

        for (const FinishedAssociation& call : std::exchange(observer_.associations, {}))
        {
          EXPECT_EQ("cloud", call.peer.name);
          outcomes.push_back(call.outcome);
        }

        return outcomes;
      }

      // Of the one that was called in vain at this address, or has none; empty: it is nobody's
      std::string Find(const PeerAddress& address, const std::string& unresolved = "")
      {
        ProbeEvent call;
        call.kind = Kind::FailedCall;
        call.host = unresolved.empty() ? 0 : HashHost(unresolved);
        call.address = address;
        call.outcome = unresolved.empty() ? REFUSED : AssociationOutcome::Unresolved;
        events_.Push(call);
        events_.Drain(journal_, TimePoint(milliseconds(10000)));
        const auto calls = std::exchange(observer_.associations, {});
        return calls.empty() ? "" : calls.front().peer.name;
      }

      EventQueue events_;
      RecordedJournal observer_;
      Journal journal_{{&observer_}};
    };
  }

  TEST_F(EventQueueTest, RequestsThatFindNoRoomAreCountedAndDisplaceNothingElse)
  {
    ProbeEvent request;
    request.kind = Kind::Request;
    request.reading.emplace();

    for (int i = 0; i < 2050; i++)
    {
      events_.Push(request);
    }

    EXPECT_EQ(2U, events_.CountDropped());
    EXPECT_EQ("CT", Find(MakeAddress(1, 104)));
    events_.Push(request);
    EXPECT_EQ(2U, events_.CountDropped());
  }

  TEST_F(EventQueueTest, DestinationsAreFoundByAddressAndPort)
  {
    Learn("database", MakeAddress(9, 443));
    EXPECT_EQ("CT", Find(MakeAddress(1, 104)));
    EXPECT_EQ("MR", Find(MakeAddress(1, 11112)));
    EXPECT_EQ("cloud", Find(MakeAddress(2, 443)));
    EXPECT_EQ("other", Find(MakeAddress(3, 443)));
    EXPECT_EQ("", Find(MakeAddress(1, 5432)));
    EXPECT_EQ("", Find(MakeAddress(9, 104)));
    EXPECT_EQ("", Find(MakeAddress(9, 443)));

    // By the address that its host had: DCMTK looks a host up without a port
    EXPECT_EQ("", Find(MakeAddress(7, 104)));
    Learn("pacs", MakeAddress(7, 0));
    EXPECT_EQ("PACS", Find(MakeAddress(7, 104)));

    // Without an address, by its name
    EXPECT_EQ("PACS", Find({}, "pacs"));
    EXPECT_EQ("", Find({}, "cloud"));
    EXPECT_EQ("cloud", Find(PeerAddress{{}, 443}, "cloud"));
  }

  TEST_F(EventQueueTest, AnAddressIsThatOfTheHostThatWasLookedUpLast)
  {
    Learn("other", MakeAddress(2, 443));
    EXPECT_EQ("other", Find(MakeAddress(2, 443)));
    Learn("cloud", MakeAddress(2, 443));
    EXPECT_EQ("cloud", Find(MakeAddress(2, 443)));

    for (int i = 0; i < 1000; i++)
    {
      Learn("other", MakeAddress(3, 443));
    }

    EXPECT_EQ("cloud", Find(MakeAddress(2, 443)));
  }

  TEST_F(EventQueueTest, AHostOfWhichAllAddressesFailIsOneFailedCallAndNoneIfOneAnswers)
  {
    Push(Kind::FailedCall, 1, 0, 1);
    Push(Kind::FailedCall, 2, 1, 500, TIMED_OUT);
    EXPECT_EQ(Outcomes(), Take(600));
    EXPECT_EQ((Outcomes{TIMED_OUT}), Take(2000));
    EXPECT_EQ(Outcomes(), Take(3000));
    Push(Kind::FailedCall, 1, 3000, 3001);
    Push(Kind::Connected, 2, 3000, 3005);
    EXPECT_EQ(Outcomes(), Take(5000));
  }

  TEST_F(EventQueueTest, AnAddressThatFailsLongAfterTheOtherOneIsTheSameCall)
  {
    Push(Kind::FailedCall, 1, 200, 201);
    EXPECT_EQ((Outcomes{REFUSED}), Take(1300));
    Push(Kind::FailedCall, 2, 0, 60000, TIMED_OUT);
    EXPECT_EQ(Outcomes(), Take(70000));
  }

  TEST_F(EventQueueTest, TheSameAddressAgainIsAnotherCallAndSoIsAnotherPeerOrThread)
  {
    Push(Kind::FailedCall, 1, 0, 1);
    Push(Kind::FailedCall, 1, 2, 3);
    Push(Kind::Connected, 1, 4, 5);
    EXPECT_EQ((Outcomes{REFUSED, REFUSED}), Take(2000));
    Push(Kind::FailedCall, 1, 0, 1);
    Push(Kind::Connected, 3, 2, 3);
    Push(Kind::Connected, 2, 2, 3, REFUSED, 2);
    EXPECT_EQ((Outcomes{REFUSED}), Take(4000));
  }

  TEST_F(EventQueueTest, KeepsABoundedNumberOfFailedCalls)
  {
    for (int i = 0; i < 1000; i++)
    {
      Push(Kind::FailedCall, 1, i, i);
    }

    EXPECT_EQ(256U, Take(5000).size());
  }
}
