// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Destination.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::milliseconds;

    PeerAddress MakeAddress(std::uint8_t last, std::uint16_t port)
    {
      PeerAddress address;
      address.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last};
      address.port = port;
      return address;
    }

    // By thread 1, to that address of "cloud"
    Call MakeCall(std::uint8_t address, int begin, int end)
    {
      return {1, MakeAddress(address, 443), TimePoint(milliseconds(begin)),
              TimePoint(milliseconds(end))};
    }

    FinishedAssociation MakeFailure(AssociationOutcome outcome)
    {
      FinishedAssociation failure;
      failure.outcome = outcome;
      failure.peer.name = "cloud";
      return failure;
    }

    class DestinationsTest : public testing::Test
    {
    protected:
      DestinationsTest()
      {
        destinations_.Set({{"CT", HashHost("10.0.0.1"), 104},
                           {"MR", HashHost("10.0.0.1"), 11112},
                           {"PACS", HashHost("pacs"), 104},
                           {"cloud", HashHost("cloud"), 443, false, true}});
      }

      std::string Find(HostHash host, const PeerAddress& address) const
      {
        const Destination* const found = destinations_.Find(host, address);
        return found == nullptr ? "" : found->title;
      }

      std::vector<AssociationOutcome> Take(int at)
      {
        std::vector<AssociationOutcome> outcomes;

        for (const FinishedAssociation& failure :
             destinations_.TakeFailed(TimePoint(milliseconds(at))))
        {
          outcomes.push_back(failure.outcome);
        }

        return outcomes;
      }

      Destinations destinations_;
    };

    using Outcomes = std::vector<AssociationOutcome>;
    constexpr auto REFUSED = AssociationOutcome::Refused;
    constexpr auto TIMED_OUT = AssociationOutcome::TimedOut;
  }

  TEST_F(DestinationsTest, AreFoundByHostAndPort)
  {
    EXPECT_EQ("MR", Find(0, MakeAddress(1, 11112)));
    EXPECT_EQ("PACS", Find(HashHost("pacs"), MakeAddress(7, 104)));
  }

  TEST_F(DestinationsTest, ModalitiesAreFoundByAHostThatHasNoAddress)
  {
    EXPECT_EQ("PACS", Find(HashHost("pacs"), {}));
    EXPECT_EQ("", Find(HashHost("cloud"), {}));
  }

  TEST_F(DestinationsTest, OtherServersAreNone)
  {
    EXPECT_EQ("", Find(0, MakeAddress(1, 5432)));
    EXPECT_EQ("", Find(0, MakeAddress(9, 104)));
  }

  TEST_F(DestinationsTest, PeersAreFoundByTheAddressThatTheirNameHas)
  {
    EXPECT_EQ("", Find(0, MakeAddress(5, 443)));
    destinations_.Learn(HashHost("cloud"), MakeAddress(5, 443));
    EXPECT_EQ("cloud", Find(0, MakeAddress(5, 443)));
    destinations_.Learn(HashHost("database"), MakeAddress(5, 443));
    EXPECT_EQ("cloud", Find(0, MakeAddress(5, 443)));
  }

  TEST_F(DestinationsTest, AHostOfWhichAllAddressesFailIsOneFailedCall)
  {
    destinations_.OnFailed(MakeCall(1, 0, 1), MakeFailure(REFUSED));
    destinations_.OnFailed(MakeCall(2, 1, 500), MakeFailure(TIMED_OUT));
    EXPECT_EQ(Outcomes(), Take(600));
    EXPECT_EQ((Outcomes{TIMED_OUT}), Take(2000));
    EXPECT_EQ(Outcomes(), Take(3000));
  }

  TEST_F(DestinationsTest, AnAddressThatFailsLongAfterTheOtherOneIsTheSameCall)
  {
    destinations_.OnFailed(MakeCall(1, 200, 201), MakeFailure(REFUSED));
    EXPECT_EQ((Outcomes{REFUSED}), Take(1300));
    destinations_.OnFailed(MakeCall(2, 0, 60000), MakeFailure(TIMED_OUT));
    EXPECT_EQ(Outcomes(), Take(70000));
  }

  TEST_F(DestinationsTest, AnAddressThatAnswersMakesUpForTheOthers)
  {
    destinations_.OnFailed(MakeCall(1, 0, 1), MakeFailure(REFUSED));
    destinations_.OnConnected(MakeCall(2, 0, 5), "cloud");
    EXPECT_EQ(Outcomes(), Take(2000));
  }

  TEST_F(DestinationsTest, TheSameAddressAgainIsAnotherCall)
  {
    destinations_.OnFailed(MakeCall(1, 0, 1), MakeFailure(REFUSED));
    destinations_.OnFailed(MakeCall(1, 2, 3), MakeFailure(REFUSED));
    destinations_.OnConnected(MakeCall(1, 4, 5), "cloud");
    EXPECT_EQ((Outcomes{REFUSED, REFUSED}), Take(2000));
  }

  TEST_F(DestinationsTest, ACallToAnotherPeerOrOfAnotherThreadReplacesNone)
  {
    destinations_.OnFailed(MakeCall(1, 0, 1), MakeFailure(REFUSED));
    destinations_.OnConnected(MakeCall(2, 2, 3), "other");
    Call ofAnother = MakeCall(2, 2, 3);
    ofAnother.thread = 2;
    destinations_.OnConnected(ofAnother, "cloud");
    EXPECT_EQ((Outcomes{REFUSED}), Take(2000));
  }

  TEST_F(DestinationsTest, KeepABoundedNumberOfFailedCalls)
  {
    for (int i = 0; i < 1000; i++)
    {
      destinations_.OnFailed(MakeCall(1, i, i), MakeFailure(REFUSED));
    }

    EXPECT_EQ(256U, Take(5000).size());
  }
}
