// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/PeerStatistics.h"

#include "Metrics/Associations.h"
#include "Metrics/Instances.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::milliseconds;
    using std::chrono::seconds;

    class PeerStatisticsTest : public testing::Test
    {
    protected:
      static const PeerTraffic& Received(const PeerSummary& summary)
      {
        return summary.directions.at(static_cast<std::size_t>(Direction::Receive));
      }

      static const PeerAssociations& Accepted(const PeerSummary& summary)
      {
        return Received(summary).associations;
      }

      TimePoint now_{seconds(1000)};
      std::vector<OpenAssociation> open_;
      PeerStatistics statistics_{2, [this] { return open_; },
                                 [this]
                                 {
                                   return now_;
                                 }};
    };
  }

  TEST_F(PeerStatisticsTest, CountsAssociationsThatOrthancAskedForInVainUntilOneIsAccepted)
  {
    FinishedAssociation refused;
    refused.direction = Direction::Send;
    refused.outcome = AssociationOutcome::Refused;
    refused.peer.name = "PACS";
    statistics_.SetModalities({"PACS"});
    statistics_.OnAssociationFinished(refused);
    statistics_.OnAssociationFinished(refused);
    const auto count = [this]
    {
      return statistics_.GatherEvidence().at(1).failed.count;
    };
    EXPECT_EQ(2U, count());

    now_ += LatestTraffic::MAXIMUM_AGE + seconds(1);
    EXPECT_EQ(0U, count());
    statistics_.OnAssociationFinished(refused);
    EXPECT_EQ(3U, count());

    FinishedAssociation released = refused;
    released.outcome = AssociationOutcome::Released;
    released.setup = milliseconds(3);
    statistics_.OnAssociationFinished(released);
    EXPECT_EQ(0U, count());
  }

  TEST_F(PeerStatisticsTest, SumsUpWhatAPeerSent)
  {
    FinishedInstance failed = MakeInstance("CT1");
    failed.outcome = Outcome::Failed;
    failed.stalls = 3;
    failed.stallTime = milliseconds(120);
    statistics_.OnInstanceFinished(MakeInstance("CT1"));
    statistics_.OnInstanceFinished(failed);

    const std::vector<PeerSummary> peers = statistics_.Summarize();
    ASSERT_EQ(1U, peers.size());
    EXPECT_EQ("CT1", peers[0].name);
    EXPECT_EQ("192.0.2.1", peers[0].address);

    const TrafficBucket& received = Received(peers[0]);
    EXPECT_EQ(2U, received.instances);
    EXPECT_EQ(2000U, received.bytes);
    EXPECT_EQ(1U, received.GetOutcome(Outcome::Stored));
    EXPECT_EQ(1U, received.GetOutcome(Outcome::Failed));
    EXPECT_DOUBLE_EQ(0.080, received.GetSeconds(Phase::Receive));
    EXPECT_FALSE(received.IsObserved(Phase::Idle));
    EXPECT_EQ(3U, received.stalls);
    EXPECT_DOUBLE_EQ(0.120, received.stallSeconds);
    EXPECT_EQ(0U, peers[0].directions.at(static_cast<std::size_t>(Direction::Send)).instances);
  }

  TEST_F(PeerStatisticsTest, TheLatestKnownAddressIsShownAndWhenInstancesEnded)
  {
    FinishedInstance instance = MakeInstance("CT1");
    instance.endedAt = TimePoint(seconds(50));
    statistics_.OnInstanceFinished(instance);
    instance.peer.address = "192.0.2.99";
    instance.endedAt = TimePoint(seconds(60));
    statistics_.OnInstanceFinished(instance);
    instance.peer.address.clear();
    statistics_.OnInstanceFinished(instance);

    const PeerSummary peer = statistics_.Summarize().front();
    EXPECT_EQ("192.0.2.99", peer.address);
    EXPECT_EQ(TimePoint(seconds(50)), peer.firstSeen);
    EXPECT_EQ(TimePoint(seconds(60)), peer.lastSeen);
  }

  TEST_F(PeerStatisticsTest, ARejectedStrangerIsOneOfTheOthers)
  {
    FinishedAssociation rejected = MakeAssociation("STRANGER");
    rejected.isAccepted = false;
    statistics_.OnAssociationFinished(rejected);
    open_ = {MakeOpenAssociation("WAITS")};
    open_[0].isAccepted = false;

    const std::vector<PeerSummary> peers = statistics_.Summarize();
    ASSERT_EQ(1U, peers.size());
    EXPECT_EQ("other", peers[0].name);
    EXPECT_EQ(1U, Accepted(peers[0]).open);
    EXPECT_EQ(1U, Accepted(peers[0]).outcomes.at(0));
  }

  TEST_F(PeerStatisticsTest, WhoTakesOverAPlaceDoesNotContinueItsFigures)
  {
    statistics_.OnInstanceFinished(MakeInstance("CT1"));
    statistics_.OnInstanceFinished(MakeInstance("MR1"));
    now_ += PeerStatistics::KEPT;
    statistics_.OnInstanceFinished(MakeInstance("MR1"));
    open_ = {MakeOpenAssociation("NEW")};

    std::vector<PeerSummary> peers = statistics_.Summarize();
    ASSERT_EQ(2U, peers.size());
    EXPECT_EQ("MR1", peers[0].name);
    EXPECT_EQ(2U, Received(peers[0]).instances);
    EXPECT_EQ("NEW", peers[1].name);
    EXPECT_EQ(0U, Received(peers[1]).instances);

    statistics_.OnInstanceFinished(MakeInstance("NEW"));
    peers = statistics_.Summarize();
    ASSERT_EQ(2U, peers.size());
    EXPECT_EQ(1U, Received(peers[1]).instances);
  }

  TEST_F(PeerStatisticsTest, RatesAreOverTheLastMinute)
  {
    for (int i = 0; i < 240; i++)  // two a second, for two minutes
    {
      statistics_.OnInstanceFinished(MakeInstance("CT1"));
      now_ += milliseconds(500);
    }

    EXPECT_NEAR(2, statistics_.Summarize().front().directions[0].rates.instances, 0.05);
    EXPECT_NEAR(2000, statistics_.Summarize().front().directions[0].rates.bytes, 50);
    now_ += seconds(61);
    EXPECT_EQ(0.0, statistics_.Summarize().front().directions[0].rates.instances);
    EXPECT_EQ(240U, Received(statistics_.Summarize().front()).instances);
  }

  TEST_F(PeerStatisticsTest, RatesOfANewPeerBeginWithTheSocketSettings)
  {
    now_ += seconds(600);
    statistics_.SetModalities({"CT1"});
    statistics_.Restart();

    for (int i = 0; i < 10; i++)
    {
      now_ += seconds(1);
      statistics_.OnInstanceFinished(MakeInstance("CT1"));
      statistics_.OnInstanceFinished(MakeInstance("CT2"));
    }

    for (const PeerSummary& peer : statistics_.Summarize())
    {
      EXPECT_NEAR(1, peer.directions[0].rates.instances, 0.2) << peer.name;
    }
  }

  TEST_F(PeerStatisticsTest, PeersBeyondTheMaximumComeLastTogether)
  {
    statistics_.SetModalities({"CT1"});
    EXPECT_TRUE(statistics_.Summarize().empty());
    EXPECT_TRUE(statistics_.GatherEvidence().empty());

    for (const char* name : {"CT1", "other", "MR1", "US1", "CR1"})
    {
      statistics_.OnInstanceFinished(MakeInstance(name));
    }

    const std::vector<PeerSummary> peers = statistics_.Summarize();
    ASSERT_EQ(3U, peers.size());
    EXPECT_EQ("CT1", peers[0].name);
    EXPECT_EQ("MR1", peers[1].name);
    EXPECT_EQ("other", peers[2].name);
    EXPECT_EQ(3U, Received(peers[2]).instances);
  }

  TEST_F(PeerStatisticsTest, WhatCameFromPeersThatAreNotKnownComesLast)
  {
    statistics_.OnInstanceFinished(MakeInstance("other"));
    statistics_.OnInstanceFinished(MakeInstance("  "));
    statistics_.OnAssociationFinished(MakeAssociation(std::string(16, '\0')));

    const std::vector<PeerSummary> peers = statistics_.Summarize();
    ASSERT_EQ(2U, peers.size());
    EXPECT_EQ("", peers[1].name);
    EXPECT_EQ(1U, Received(peers[1]).instances);
    EXPECT_EQ(1U, Accepted(peers[1]).outcomes.at(0));
  }

  TEST_F(PeerStatisticsTest, AnAssociationWithoutInstancesMakesAPeerKnown)
  {
    statistics_.OnAssociationFinished(MakeAssociation("CT1"));

    const std::vector<PeerSummary> peers = statistics_.Summarize();
    ASSERT_EQ(1U, peers.size());
    EXPECT_EQ("CT1", peers[0].name);
    EXPECT_EQ("192.0.2.1", peers[0].address);
    EXPECT_EQ(TimePoint(seconds(998)), peers[0].firstSeen);
    EXPECT_EQ(TimePoint(seconds(1000)), peers[0].lastSeen);
    EXPECT_TRUE(Accepted(peers[0]).IsAny());
    EXPECT_EQ(0U, Accepted(peers[0]).open);
    EXPECT_FALSE(peers[0].directions.at(1).associations.IsAny());
  }

  TEST_F(PeerStatisticsTest, AnOpenAssociationMakesAPeerKnownWhileItIsOpen)
  {
    open_ = {MakeOpenAssociation("CT1"), MakeOpenAssociation("CT1")};

    const std::vector<PeerSummary> peers = statistics_.Summarize();
    ASSERT_EQ(1U, peers.size());
    EXPECT_EQ(2U, Accepted(peers[0]).open);
    EXPECT_EQ(TimePoint(seconds(999)), peers[0].firstSeen);
    EXPECT_EQ(now_, peers[0].lastSeen);

    open_.clear();
    EXPECT_TRUE(statistics_.Summarize().empty());
  }

  TEST_F(PeerStatisticsTest, TheYoungestOpenAssociationIsTheLatest)
  {
    OpenAssociation old = MakeOpenAssociation("CT1");
    old.age = seconds(60);
    old.parties.calledTitle = "OLD";
    open_ = {MakeOpenAssociation("CT1"), old};
    FinishedAssociation finished = MakeAssociation("CT1");
    finished.parties.calledTitle = "FINISHED";
    statistics_.OnAssociationFinished(finished);
    EXPECT_EQ("ORTHANC", Accepted(statistics_.Summarize().front()).parties.calledTitle);

    open_.clear();
    EXPECT_EQ("FINISHED", Accepted(statistics_.Summarize().front()).parties.calledTitle);
  }

  TEST_F(PeerStatisticsTest, WithoutAListOfThemItIsNotKnownHowManyAreOpen)
  {
    PeerStatistics statistics(2);
    statistics.OnAssociationFinished(MakeAssociation("CT1"));
    EXPECT_FALSE(Accepted(statistics.Summarize().front()).open.has_value());
  }

  namespace
  {
    class PeerPlacesTest : public testing::Test
    {
    protected:
      using Names = std::vector<std::string>;

      void Receive(const std::string& name)
      {
        statistics_.OnInstanceFinished(MakeInstance(name));
      }

      void Associate(const std::string& name, bool isAccepted)
      {
        FinishedAssociation association = MakeAssociation(name);
        association.isAccepted = isAccepted;
        statistics_.OnAssociationFinished(association);
      }

      Names List()
      {
        Names names;

        for (const PeerSummary& peer : statistics_.Summarize())
        {
          names.push_back(peer.name);
        }

        return names;
      }

      TimePoint now_{std::chrono::minutes(1000)};
      PeerStatistics statistics_{2,
                                 {},
                                 [this]
                                 {
                                   return now_;
                                 }};
    };
  }

  TEST_F(PeerPlacesTest, StrangersNamedOtherAndRejectedPeersTakeNoPlace)
  {
    statistics_.SetModalities({"other"});
    Receive("other");

    for (int i = 0; i < 300; i++)
    {
      Associate("STRANGER" + std::to_string(i), false);
    }

    EXPECT_EQ(Names{"other"}, List());
    Associate("CT1", true);
    Receive("MR1");
    EXPECT_EQ((Names{"CT1", "MR1", "other"}), List());
  }

  TEST_F(PeerPlacesTest, ModalitiesHaveTheirPlacesHoweverManyStrangersCome)
  {
    statistics_.SetModalities({"CT1", " MR1", "US1"});

    for (const char* name : {"STRANGER", "CT1", "MR1", "US1"})
    {
      Receive(name);
    }

    EXPECT_EQ((Names{"CT1", "MR1", "other"}), List());
  }

  TEST_F(PeerPlacesTest, AModalityThatIsAddedLaterTakesOverAStrangersPlaceAtOnce)
  {
    statistics_.SetModalities({"CT1"});
    Receive("STRANGER");
    Receive("CT1");
    statistics_.SetModalities({"LATE", "CT1"});
    EXPECT_EQ(Names{"CT1"}, List());
    Receive("LATE");
    Receive("STRANGER");
    EXPECT_EQ((Names{"CT1", "LATE", "other"}), List());
  }

  TEST_F(PeerPlacesTest, APlaceWithoutAnInstanceForAnHourIsTakenOver)
  {
    Receive("NIGHT");
    now_ += std::chrono::minutes(1);
    Associate("ECHO", true);
    now_ += std::chrono::minutes(58);
    Receive("NEW");
    EXPECT_EQ((Names{"ECHO", "NIGHT", "other"}), List());
    now_ += std::chrono::minutes(1);
    Associate("ECHO", true);  // no instance
    Receive("NEW");
    EXPECT_EQ((Names{"ECHO", "NEW", "other"}), List());
    now_ += std::chrono::minutes(1);
    Receive("NIGHT");
    EXPECT_EQ((Names{"NEW", "NIGHT", "other"}), List());
  }

  TEST_F(PeerPlacesTest, AModalityKeepsItsPlaceWithoutAnInstanceUntilItIsNoneAnyMore)
  {
    statistics_.SetModalities({"CT1", "MR1"});
    now_ += std::chrono::hours(1000);
    Receive("NEW");
    EXPECT_EQ(Names{"other"}, List());
    statistics_.SetModalities({"MR1"});
    Receive("NEW");
    EXPECT_EQ((Names{"NEW", "other"}), List());
  }

  TEST_F(PeerPlacesTest, NamesAreBoundedAndPrintable)
  {
    Receive(std::string(65536, '\n'));
    Receive("CT1");
    Receive(std::string(" CT1 \0", 6));
    EXPECT_EQ((Names{std::string(MAXIMUM_PEER_NAME, '?'), "CT1"}), List());
  }

  // A handler that waits for an hour keeps its association, and not its place
  TEST_F(PeerPlacesTest, AnOpenAssociationWhosePlaceIsTakenOverIsOneOfTheOthers)
  {
    std::vector<OpenAssociation> open = {MakeOpenAssociation("IDLE")};
    PeerStatistics statistics(
        1, [&open] { return open; }, [this] { return now_; });
    EXPECT_EQ("IDLE", statistics.Summarize().at(0).name);
    now_ += PeerStatistics::KEPT;
    open.push_back(MakeOpenAssociation("NEW"));
    const std::vector<PeerSummary> peers = statistics.Summarize();
    ASSERT_EQ(2U, peers.size());
    EXPECT_EQ("NEW", peers[0].name);
    EXPECT_EQ("other", peers[1].name);

    for (const PeerSummary& peer : peers)
    {
      EXPECT_EQ(1U, peer.directions[0].associations.open);
    }
  }
}
