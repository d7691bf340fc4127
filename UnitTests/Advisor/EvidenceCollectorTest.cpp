// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Evidence.h"

#include "Advisor/RuleTest.h"
#include "Metrics/Instances.h"

#include <algorithm>
#include <cmath>

namespace OrthancPerf
{
  namespace
  {
    class EvidenceCollectorTest : public testing::Test
    {
    protected:
      static constexpr std::size_t DICOM_THREADS = 4;

      void Finish(const FinishedInstance& instance)
      {
        peers_.OnInstanceFinished(instance);
        collector_.OnInstanceFinished(instance);
      }

      void Receive(const std::string& peer, int count)
      {
        for (int i = 0; i < count; i++)
        {
          Finish(MakeInstance(peer));
        }
      }

      TrafficBucket GetReceived()
      {
        return collector_.Gather().received;
      }

      PeerEvidence GetPeer(const std::string& name, Direction direction = Direction::Receive)
      {
        for (const PeerEvidence& peer : collector_.Gather().peers)
        {
          if (peer.name == name && peer.direction == direction)
          {
            return peer;
          }
        }

        ADD_FAILURE() << name << " is not there";
        return {};
      }

      void Look(int looks = 1)
      {
        for (int i = 0; i < looks; i++)
        {
          collector_.Look(snapshot_);
        }
      }

      void Look(const std::vector<OpenAssociation>& open)
      {
        snapshot_.associations = open;
        Look();
        snapshot_.associations.clear();
      }

      static constexpr int TEN_MINUTES = 1200;  // of looks

      TimePoint now_ = TimePoint(std::chrono::hours(1));
      PeerStatistics peers_{3,
                            {},
                            [this]
                            {
                              return now_;
                            }};
      EvidenceCollector collector_{peers_, DICOM_THREADS,
                                   [this]
                                   {
                                     return now_;
                                   }};
      Snapshot snapshot_;
      Tuning tuning_;
    };

    OpenAssociation MakeUnread(const std::string& peer, std::uint32_t unread)
    {
      OpenAssociation association = MakeOpenAssociation(peer);
      association.unread = unread;
      return association;
    }
  }

  TEST_F(EvidenceCollectorTest, WhatWasDeflatedFadesInMinutes)
  {
    snapshot_.deflateSeconds = {100, 0};
    Look();
    FinishedRequest request;
    request.route = RouteClass::Archive;
    request.phases.back() = std::chrono::seconds(120);
    collector_.OnRequestFinished(request);
    EXPECT_DOUBLE_EQ(100, collector_.Gather().deflated[0].deflate);
    EXPECT_DOUBLE_EQ(120, collector_.Gather().deflated[0].requests);

    snapshot_.deflateSeconds = {101, 0};
    Look();
    EXPECT_GT(101, collector_.Gather().deflated[0].deflate);
    EXPECT_LT(100, collector_.Gather().deflated[0].deflate);

    Look(TEN_MINUTES);
    EXPECT_NEAR(100 * std::exp(-2), collector_.Gather().deflated[0].deflate, 1);
    EXPECT_NEAR(120 * std::exp(-2), collector_.Gather().deflated[0].requests, 1);
    EXPECT_DOUBLE_EQ(0, collector_.Gather().deflated[1].deflate);
  }

  TEST_F(EvidenceCollectorTest, WaitsForMemoryFadeInMinutes)
  {
    AdmissionFigures& budget = snapshot_.budget;
    budget.limit = 1000;
    budget.waits = 7;
    budget.waited = std::chrono::seconds(8);
    budget.givenUp = 1;
    snapshot_.canWait = true;
    snapshot_.received = 10;
    Look();
    MemoryEvidence memory = collector_.Gather().memory;
    EXPECT_EQ(1000U, memory.budget);
    EXPECT_DOUBLE_EQ(7, memory.waits);
    EXPECT_DOUBLE_EQ(8, memory.waited);
    EXPECT_DOUBLE_EQ(10, memory.received);
    EXPECT_DOUBLE_EQ(1, memory.givenUp);

    Look(TEN_MINUTES);
    memory = collector_.Gather().memory;
    EXPECT_NEAR(8 * std::exp(-2), memory.waited, 0.01);
    EXPECT_NEAR(10 * std::exp(-2), memory.received, 0.01);
    EXPECT_LT(memory.givenUp, 0.5);

    snapshot_.canWait = false;  // without the probe, no budget is in effect
    Look();
    EXPECT_EQ(0U, collector_.Gather().memory.budget);
    EXPECT_FALSE(collector_.Gather().memory.canWait);
  }

  TEST_F(EvidenceCollectorTest, APeakIsEvidenceWhileItIsRecent)
  {
    const auto look = [this](std::uint64_t peak, int seconds)
    {
      now_ += std::chrono::seconds(seconds);
      snapshot_.peak = peak;
      Look();
      return collector_.Gather().memory.recentPeak;
    };
    EXPECT_EQ(0U, look(100, 0));
    EXPECT_EQ(900U, look(900, 0));
    EXPECT_EQ(900U, look(900, 290));
    EXPECT_EQ(0U, look(900, 10));
  }

  TEST_F(EvidenceCollectorTest, TellsPeersAndDirectionsApart)
  {
    Receive("CT1", 2);
    Receive("MR1", 3);
    Receive("", 3);  // a peer that is not known counts for the server
    FinishedInstance sent = MakeInstance("CT1");
    sent.direction = Direction::Send;
    Finish(sent);

    EXPECT_DOUBLE_EQ(2, GetPeer("CT1").traffic.instances);
    EXPECT_DOUBLE_EQ(1, GetPeer("CT1", Direction::Send).traffic.instances);
    EXPECT_DOUBLE_EQ(8, GetReceived().instances);
    EXPECT_EQ(2U * DIRECTION_COUNT, collector_.Gather().peers.size());
  }

  TEST_F(EvidenceCollectorTest, WhatIsLostIsCountedWithTheLatestReason)
  {
    FinishedInstance instance = MakeInstance("CT1");
    instance.outcome = Outcome::Failed;
    instance.reason = "not DICOM";
    Finish(instance);
    EXPECT_DOUBLE_EQ(0, GetReceived().ownFailures);

    instance.isOwnFailure = true;
    instance.reason = "storage full";
    Finish(instance);
    EXPECT_DOUBLE_EQ(1, GetReceived().ownFailures);
    EXPECT_EQ("storage full", collector_.Gather().latestFailure);
  }

  TEST_F(EvidenceCollectorTest, AnotherTuningForgetsWhatWasSeenUnderTheOneBefore)
  {
    collector_.OnTuningChanged(tuning_);
    Receive("CT1", 5);
    Look({MakeOpenAssociation("CT1")});
    collector_.OnTuningChanged(tuning_);  // the same again
    EXPECT_DOUBLE_EQ(5, GetPeer("CT1").traffic.instances);
    EXPECT_DOUBLE_EQ(5, GetReceived().instances);

    tuning_.dicomSockets.tcpNoDelay = false;
    collector_.OnTuningChanged(tuning_);
    EXPECT_DOUBLE_EQ(0, GetPeer("CT1").traffic.instances);
    EXPECT_FALSE(GetPeer("CT1").tcp);
    EXPECT_DOUBLE_EQ(5, GetReceived().instances);

    // What a peer lost since then is a share of what came since then
    Receive("CT1", 2);
    EXPECT_DOUBLE_EQ(2, collector_.Gather().GetTotalOfPeers(Direction::Receive).instances);

    tuning_.ingestTranscoding.verify = true;
    collector_.OnTuningChanged(tuning_);
    EXPECT_DOUBLE_EQ(2, GetPeer("CT1").traffic.instances);
    EXPECT_DOUBLE_EQ(0, GetReceived().instances);
  }

  TEST_F(EvidenceCollectorTest, AllIsForgottenAfterFiveMinutesOfSilence)
  {
    Receive("CT1", 5);
    peers_.OnAssociationFinished(MakeAssociation("CT1"));
    Look({MakeUnread("CT1", 1)});
    now_ += std::chrono::minutes(6);

    const Evidence evidence = collector_.Gather();
    EXPECT_DOUBLE_EQ(0, GetPeer("CT1").traffic.instances);
    EXPECT_TRUE(GetPeer("CT1").setups.empty());
    EXPECT_DOUBLE_EQ(0, evidence.received.instances);
    EXPECT_DOUBLE_EQ(0, evidence.load.looks);
  }

  TEST_F(EvidenceCollectorTest, KeepsTheLatestEightSetups)
  {
    for (int i = 1; i <= 20; i++)
    {
      FinishedAssociation association = MakeAssociation("CT1");
      association.setup = std::chrono::milliseconds(i);
      peers_.OnAssociationFinished(association);
    }

    const std::vector<Duration> setups = GetPeer("CT1").setups;
    EXPECT_EQ(8U, setups.size());
    EXPECT_EQ(std::chrono::milliseconds(13), *std::min_element(setups.begin(), setups.end()));
  }

  TEST_F(EvidenceCollectorTest, TheLargestWindowsOfAConnectionCountForTenMinutes)
  {
    OpenAssociation association = MakeOpenAssociation("CT1");
    association.tcp->receiveWindow = 300'000;
    association.tcp->sendWindow = 200'000;
    Look({association});
    association.tcp->receiveWindow = 100'000;
    association.tcp->sendWindow = 150'000;

    for (int minutes = 0; minutes < 9; minutes++)
    {
      Look({association});
      EXPECT_EQ(300'000U, GetPeer("CT1").tcp->receiveWindow) << minutes;
      EXPECT_EQ(200'000U, GetPeer("CT1").tcp->sendWindow) << minutes;
      now_ += std::chrono::minutes(1);
    }

    now_ += std::chrono::minutes(1);
    Look({association});
    EXPECT_EQ(100'000U, GetPeer("CT1").tcp->receiveWindow);
    EXPECT_EQ(150'000U, GetPeer("CT1").tcp->sendWindow);

    association.tcp->receiveWindow = 50'000;
    now_ += std::chrono::hours(1);  // of silence
    Look({association});
    EXPECT_EQ(50'000U, GetPeer("CT1").tcp->receiveWindow);
  }

  TEST_F(EvidenceCollectorTest, AssociationsWithUnreadDataBeyondTheThreadsWait)
  {
    Look();
    EXPECT_DOUBLE_EQ(0, collector_.Gather().load.looks);
    std::vector<OpenAssociation> open(DICOM_THREADS, MakeUnread("CT1", 1000));
    Look(open);
    EXPECT_DOUBLE_EQ(0, collector_.Gather().load.waiting);

    now_ += std::chrono::minutes(6);
    collector_.Gather();  // forgets it
    open.resize(6, MakeUnread("CT1", 1000));
    open.push_back(MakeUnread("CT1", 0));
    Look(open);
    EXPECT_DOUBLE_EQ(7, collector_.Gather().load.associations);
    EXPECT_DOUBLE_EQ(3, collector_.Gather().load.waiting);  // 7 open less 4 threads
  }

  TEST_F(EvidenceCollectorTest, CountsTheConnectionsToTheDatabaseThatAreUsed)
  {
    FinishedInstance instance = MakeInstance("CT1");
    instance.database = ServerRecord{"10.0.0.9:5432", 12, 30, std::chrono::milliseconds(1),
                                     std::chrono::milliseconds(5)};
    Finish(instance);
    instance.database->connection = 14;
    Finish(instance);
    Finish(instance);

    const Evidence evidence = collector_.Gather();
    EXPECT_EQ("10.0.0.9:5432", evidence.database.server);
    EXPECT_EQ(2U, evidence.database.connections);
    const TrafficBucket& received = evidence.received;
    EXPECT_NEAR(90, received.databaseRoundTrips, 1e-6);
    EXPECT_NEAR(0.09, received.latencySeconds, 1e-6);
    EXPECT_NEAR(0.015, received.queuedSeconds, 1e-6);

    now_ += std::chrono::minutes(6);
    EXPECT_EQ(0U, collector_.Gather().database.connections);
  }

  TEST_F(EvidenceCollectorTest, CountsTheConnectionsOfAPoolThatHasRenewedThemManyTimes)
  {
    FinishedInstance instance = MakeInstance("CT1");
    instance.database.emplace();

    for (int hour = 0; hour < 100; hour++)
    {
      for (int i = 0; i < 4; i++)
      {
        instance.database->connection++;
        Finish(instance);
      }

      EXPECT_EQ(4U, collector_.Gather().database.connections) << hour;
      now_ += std::chrono::hours(1);
    }
  }

  TEST_F(EvidenceCollectorTest, TellsWhatCameWhileTheProcessorWasShort)
  {
    const auto receive = [this](double tasks, int looks, int instances)
    {
      snapshot_.runnableTasks = tasks;
      Look(looks);
      Receive("CT1", instances);
    };
    receive(1, 20, 6);
    receive(9, 1, 1);  // a moment is no shortage
    receive(9, 20, 4);

    const Evidence evidence = collector_.Gather();
    EXPECT_EQ(11, evidence.received.instances);
    EXPECT_EQ(7, evidence.calm.instances);
    EXPECT_EQ(4, evidence.starved.instances);
    EXPECT_NEAR(9, evidence.runnableTasks, 0.5);

    receive(0, 20, 1);
    EXPECT_EQ(8, collector_.Gather().calm.instances);
    now_ += LatestTraffic::MAXIMUM_AGE + std::chrono::seconds(1);
    EXPECT_EQ(0, collector_.Gather().starved.instances);
  }
}
