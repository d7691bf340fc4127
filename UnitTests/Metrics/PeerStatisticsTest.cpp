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

    using Names = std::vector<std::string>;

    class PeerStatisticsTest : public testing::Test
    {
    protected:
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

      static const PeerTraffic& Received(const PeerSummary& summary)
      {
        return summary.directions.at(static_cast<std::size_t>(Direction::Receive));
      }

      static const PeerAssociations& Accepted(const PeerSummary& summary)
      {
        return Received(summary).associations;
      }

      TimePoint now_{std::chrono::hours(1000)};
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

  // TrafficBucket.OfTwoIsTheirSum has the other figures
  TEST_F(PeerStatisticsTest, SumsUpWhatAPeerSent)
  {
    FinishedInstance failed = MakeInstance("CT1");
    failed.outcome = Outcome::Failed;
    Receive("CT1");
    statistics_.OnInstanceFinished(failed);

    ASSERT_EQ(Names{"CT1"}, List());
    const PeerSummary peer = statistics_.Summarize().front();
    EXPECT_EQ("192.0.2.1", peer.address);
    const TrafficBucket& received = Received(peer);
    EXPECT_EQ(2000U, received.bytes);
    EXPECT_EQ(1U, received.GetOutcome(Outcome::Stored));
    EXPECT_EQ(1U, received.GetOutcome(Outcome::Failed));
    EXPECT_DOUBLE_EQ(0.080, received.GetSeconds(Phase::Receive));
    EXPECT_FALSE(received.IsObserved(Phase::Idle));
    EXPECT_EQ(0U, peer.directions.at(static_cast<std::size_t>(Direction::Send)).instances);
  }

  TEST_F(PeerStatisticsTest, TheLatestKnownAddressIsShownAndWhenInstancesEnded)
  {
    FinishedInstance instance = MakeInstance("CT1");
    int second = 50;

    for (const char* address : {"192.0.2.1", "192.0.2.99", ""})
    {
      instance.peer.address = address;
      instance.endedAt = TimePoint(seconds(second++));
      statistics_.OnInstanceFinished(instance);
    }

    const PeerSummary peer = statistics_.Summarize().front();
    EXPECT_EQ("192.0.2.99", peer.address);
    EXPECT_EQ(TimePoint(seconds(50)), peer.firstSeen);
    EXPECT_EQ(TimePoint(seconds(52)), peer.lastSeen);
  }

  // A handler that waits for an hour keeps its association, and not its place
  TEST_F(PeerStatisticsTest, WhoTakesOverAPlaceDoesNotContinueItsFigures)
  {
    Receive("IDLE");
    Receive("MR1");
    open_ = {MakeOpenAssociation("IDLE")};
    now_ += PeerStatistics::KEPT;
    Receive("MR1");
    open_.push_back(MakeOpenAssociation("NEW"));

    EXPECT_EQ((Names{"MR1", "NEW", "other"}), List());
    const std::vector<PeerSummary> peers = statistics_.Summarize();
    EXPECT_EQ(2U, Received(peers[0]).instances);
    EXPECT_EQ(0U, Received(peers[1]).instances);
    EXPECT_EQ(1U, Accepted(peers[1]).open);
    EXPECT_EQ(1U, Accepted(peers[2]).open);
    Receive("NEW");
    EXPECT_EQ(1U, Received(statistics_.Summarize().at(1)).instances);
  }

  TEST_F(PeerStatisticsTest, RatesAreOverTheLastMinute)
  {
    for (int i = 0; i < 240; i++)  // two a second, for two minutes
    {
      Receive("CT1");
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
      Receive("CT1");
      Receive("CT2");
    }

    for (const PeerSummary& peer : statistics_.Summarize())
    {
      EXPECT_NEAR(1, peer.directions[0].rates.instances, 0.2) << peer.name;
    }
  }

  TEST_F(PeerStatisticsTest, WhatCameFromPeersThatAreNotKnownComesLast)
  {
    Receive("other");
    Receive("  ");
    Associate(std::string(16, '\0'), true);

    EXPECT_EQ((Names{"other", ""}), List());
    const PeerSummary unknown = statistics_.Summarize().at(1);
    EXPECT_EQ(1U, Received(unknown).instances);
    EXPECT_EQ(1U, Accepted(unknown).outcomes.at(0));
  }

  TEST_F(PeerStatisticsTest, AnAssociationMakesAPeerKnownAlsoWithoutInstances)
  {
    open_ = {MakeOpenAssociation("CT1"), MakeOpenAssociation("CT1")};
    const PeerSummary open = statistics_.Summarize().at(0);
    EXPECT_EQ(2U, Accepted(open).open);
    EXPECT_EQ(now_ - seconds(1), open.firstSeen);
    EXPECT_EQ(now_, open.lastSeen);
    open_.clear();
    EXPECT_EQ(Names(), List());

    Associate("CT1", true);
    ASSERT_EQ(Names{"CT1"}, List());
    const PeerSummary peer = statistics_.Summarize().at(0);
    EXPECT_EQ("192.0.2.1", peer.address);
    EXPECT_EQ(now_ - seconds(2), peer.firstSeen);
    EXPECT_EQ(now_, peer.lastSeen);
    EXPECT_TRUE(Accepted(peer).IsAny());
    EXPECT_EQ(0U, Accepted(peer).open);
    EXPECT_FALSE(peer.directions.at(1).associations.IsAny());

    PeerStatistics unlisted(2);  // nobody lists those that are open
    unlisted.OnAssociationFinished(MakeAssociation("CT1"));
    EXPECT_FALSE(Accepted(unlisted.Summarize().front()).open.has_value());
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

  TEST_F(PeerStatisticsTest, StrangersNamedOtherAndRejectedPeersTakeNoPlace)
  {
    statistics_.SetModalities({"other"});
    Receive("other");

    for (int i = 0; i < 300; i++)
    {
      Associate("STRANGER" + std::to_string(i), false);
    }

    open_ = {MakeOpenAssociation("WAITS")};
    open_[0].isAccepted = false;
    EXPECT_EQ(Names{"other"}, List());
    const PeerSummary others = statistics_.Summarize().front();
    EXPECT_EQ(1U, Accepted(others).open);
    EXPECT_EQ(300U, Accepted(others).outcomes.at(0));
    Associate("CT1", true);
    Receive("MR1");
    EXPECT_EQ((Names{"CT1", "MR1", "other"}), List());
  }

  TEST_F(PeerStatisticsTest, ModalitiesHaveTheirPlacesHoweverManyStrangersCome)
  {
    statistics_.SetModalities({"CT1", " MR1", "US1"});
    EXPECT_TRUE(statistics_.GatherEvidence().empty());

    for (const char* name : {"STRANGER", "CT1", "MR1", "other", "US1"})
    {
      Receive(name);
    }

    EXPECT_EQ((Names{"CT1", "MR1", "other"}), List());
    EXPECT_EQ(3U, Received(statistics_.Summarize().at(2)).instances);
  }

  TEST_F(PeerStatisticsTest, AModalityThatIsAddedLaterTakesOverAStrangersPlaceAtOnce)
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

  TEST_F(PeerStatisticsTest, APlaceWithoutAnInstanceForAnHourIsTakenOver)
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

  TEST_F(PeerStatisticsTest, AModalityKeepsItsPlaceWithoutAnInstanceUntilItIsNoneAnyMore)
  {
    statistics_.SetModalities({"CT1", "MR1"});
    now_ += std::chrono::hours(1000);
    Receive("NEW");
    EXPECT_EQ(Names{"other"}, List());
    statistics_.SetModalities({"MR1"});
    Receive("NEW");
    EXPECT_EQ((Names{"NEW", "other"}), List());
  }

  TEST(TimeSummary, HasTheMeanTheLatestAndTheMaximum)
  {
    TimeSummary summary;
    EXPECT_DOUBLE_EQ(0, summary.GetMean());

    for (const int time : {30, 20, 10, -5})  // a negative one counts as zero
    {
      summary.Add(milliseconds(time));
    }

    EXPECT_EQ(4U, summary.count);
    EXPECT_DOUBLE_EQ(0.015, summary.GetMean());
    EXPECT_DOUBLE_EQ(0, summary.latest);
    EXPECT_DOUBLE_EQ(0.030, summary.maximum);
  }

  TEST(PeerAssociations, SumsUpThoseThatAreOver)
  {
    FinishedAssociation lost = MakeAssociation("CT1");
    lost.outcome = AssociationOutcome::Lost;
    lost.setup = seconds(1);
    lost.parties.implementationVersion = std::string(65536, 'A');
    PeerAssociations associations;
    EXPECT_FALSE(associations.IsAny());
    associations.Add(MakeAssociation("CT1"));
    associations.Add(MakeAssociation("CT1"));
    EXPECT_EQ("OFFIS_DCMTK_367", associations.parties.implementationVersion);
    associations.Add(lost);

    EXPECT_EQ(2U, associations.outcomes.at(static_cast<std::size_t>(AssociationOutcome::Released)));
    EXPECT_EQ(1U, associations.outcomes.at(static_cast<std::size_t>(AssociationOutcome::Lost)));
    EXPECT_EQ(12U, associations.instances);
    EXPECT_EQ(13200U, associations.bytes);
    EXPECT_EQ(3U, associations.setup.count);
    EXPECT_DOUBLE_EQ(1, associations.setup.maximum);
    EXPECT_EQ(0U, associations.connect.count);
    EXPECT_EQ(16384U, associations.parties.maximumLength);
    EXPECT_EQ(MAXIMUM_PEER_NAME, associations.parties.implementationVersion.size());

    lost.direction = Direction::Send;  // the bytes of an outgoing one are those sent
    lost.connect = milliseconds(2);
    associations.Add(lost);
    EXPECT_EQ(13500U, associations.bytes);
    EXPECT_DOUBLE_EQ(0.002, associations.connect.latest);

    associations.Add(MakeOpenAssociation("CT1"));
    EXPECT_TRUE(associations.IsAny());
    EXPECT_EQ(1U, associations.open);
    EXPECT_EQ(65535U, associations.tcp->sendWindow);
  }

  TEST(PeerAssociations, NoInstancesAreExpectedOfThoseThatWereNeverEstablished)
  {
    FinishedAssociation association = MakeAssociation("CT1");
    PeerAssociations associations;

    for (const AssociationOutcome outcome : GetAllAssociationOutcomes())
    {
      association.outcome = outcome;
      associations.Add(association);
    }

    EXPECT_EQ(4U, associations.CountEstablished());
  }

  // Under TLS, the calling title is all that is known
  TEST(PeerAssociations, WhatTheLatestDoesNotTellIsThatOfTheOneBefore)
  {
    FinishedAssociation unreadable = MakeAssociation("CT1");
    unreadable.parties = {};
    unreadable.parties.callingTitle = "CT1";
    unreadable.tcp.reset();
    unreadable.setup.reset();
    PeerAssociations associations;
    associations.Add(unreadable);
    EXPECT_EQ("CT1", associations.parties.callingTitle);
    associations.Add(MakeAssociation("CT1"));
    associations.Add(unreadable);
    unreadable.parties.callingTitle.clear();
    associations.Add(unreadable);
    EXPECT_EQ("ORTHANC", associations.parties.calledTitle);
    EXPECT_EQ(1448U, associations.tcp->sendMss);
    EXPECT_EQ(1U, associations.setup.count);
  }
}
