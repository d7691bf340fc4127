// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    class NetworkRulesTest : public RuleTest
    {
    protected:
      void UseStockSockets()
      {
        evidence_.tuning.dicomSockets = *GetPresetValues(SocketPreset::Stock);
      }

      // Idle for so long: also where a held back response lies
      static Sample MakePausing(double pause)
      {
        Sample sample = MakeHealthy();
        sample.phases[0].second = pause;
        return sample;
      }

      static Sample WithStall(Sample sample, double stall)
      {
        sample.stalls = 1;
        sample.stallTime = stall;
        return sample;
      }

      static Sample MakeStalled(double stall)
      {
        return WithStall(MakePausing(1 + stall), stall);
      }

      static Sample MakeWaiting(double wait)
      {
        Sample sample;
        sample.phases = {{Phase::Idle, 1}, {Phase::Send, 2}, {Phase::Wait, wait}};
        return sample;
      }

      void AddSetups(std::initializer_list<double> setups, Direction direction)
      {
        Sample sample = MakeHealthy();

        if (direction == Direction::Send)  // one image in each association
        {
          sample.phases.emplace_back(Phase::Associate, *setups.begin());
        }

        PeerEvidence& peer = AddPeer(sample, MANY, direction);

        for (const double setup : setups)
        {
          peer.setups.push_back(ToDuration(Milliseconds(setup)));
        }
      }
    };
  }

  TEST_F(NetworkRulesTest, StallsOfATimerAreFoundWithTheTuningThatEndsThem)
  {
    UseStockSockets();
    AddPeer(MakeStalled(40));
    Finding finding = Judge(
        "delayed-ack", {{"MeanStall", 0.040}, {"StallsPerInstance", 1}, {"StallShare", 40.0 / 46}});
    EXPECT_EQ("delayed-ack", finding.id);
    EXPECT_EQ("CT_ROOM_1", finding.peer);
    EXPECT_NEAR(40.0 / 46, finding.cost.shareOfIngestTime, 1e-6);
    EXPECT_NEAR(46.0 / 6, *finding.cost.gain, 1e-3);
    EXPECT_TRUE(Has(finding.explanation, "Linux"));
    EXPECT_TRUE(Apply(finding).dicomSockets.tcpNoDelay);
    EXPECT_TRUE(Apply(finding).dicomSockets.tcpQuickAck);

    evidence_.peers.clear();
    AddPeer(MakeStalled(200));
    EXPECT_TRUE(Has(Judge("delayed-ack").explanation, "Windows"));

    evidence_.peers.clear();
    AddPeer(WithStall(MakeWaiting(45), 40), MANY, Direction::Send);
    EXPECT_EQ("delayed-ack-sending", Judge("delayed-ack").id);

    evidence_.peers.clear();
    SetTcp(AddPeer(MakeStalled(92)), 50, 65536);  // on top of a round trip
    EXPECT_TRUE(IsFound("delayed-ack"));
  }

  TEST_F(NetworkRulesTest, OtherWaitsAreNoStalls)
  {
    // For what was lost, two round trips and more are waited
    ExpectNothing("delayed-ack", "tuned, over a distance",
                  [this] { SetTcp(AddPeer(MakeStalled(42.5)), 20, 65536); });

    for (const double pause : {30.0, 70.0, 160.0, 204.0, 280.0})
    {
      ExpectNothing("delayed-ack", "tuned, the peer's own: " + std::to_string(pause),
                    [&] { AddPeer(MakeStalled(pause)); });
    }

    UseStockSockets();
    ExpectNothing("delayed-ack", "too few instances", [this] { AddPeer(MakeStalled(40), FEW); });
    ExpectNothing("delayed-ack", "a round trip",
                  [this] { SetTcp(AddPeer(MakeStalled(52)), 50, 65536); });
    ExpectNothing("delayed-ack", "a client of the HTTP server",
                  [this] { AddPeer(MakeStalled(40)).parties = {}; });
    ExpectNothing("delayed-ack", "little of the time",
                  [this]
                  {
                    TrafficBucket& traffic = AddPeer(MakeHealthy(), 2000).traffic;
                    traffic.stalls = 12;
                    traffic.stallSeconds = 12 * 0.040;
                  });
    ExpectNothing("delayed-ack", "now and then, on a busy machine",
                  [this]
                  {
                    TrafficBucket& traffic = AddPeer(MakeStalled(40), 200).traffic;
                    traffic.stalls *= 0.1;
                    traffic.stallSeconds *= 0.1;
                  });
  }

  // HAProxy, say
  TEST_F(NetworkRulesTest, WhereOurSideIsTunedAWaitOfATimerIsThatOfWhatIsBetween)
  {
    AddPeer(MakeStalled(42.5));
    const Remedy remedy = Judge("delayed-ack").remedy;
    EXPECT_EQ("System", remedy.kind);
    EXPECT_TRUE(Has(remedy.text, "load balancer"));
  }

  TEST_F(NetworkRulesTest, ASenderThatPausesIsFound)
  {
    AddPeer(MakePausing(50));
    const Finding finding =
        Judge("sender-bottleneck",
              {{"MeanPause", 0.050}, {"PauseShare", 50.0 / 55}, {"MeanDuration", 0.005}});
    EXPECT_FALSE(finding.cost.gain);  // nobody can tell
    EXPECT_EQ("Peer", finding.remedy.kind);
  }

  TEST_F(NetworkRulesTest, OtherPausesAreNotTheSenders)
  {
    constexpr const char* ID = "sender-bottleneck";
    ExpectNothing(ID, "an image is read", [this] { AddPeer(MakePausing(12)); });
    ExpectNothing(ID, "a round trip", [this] { SetTcp(AddPeer(MakePausing(51)), 50, 65536); });
    ExpectNothing(ID, "a scanner that acquires one a second",
                  [this] { AddPeer(MakePausing(1500)); });
    ExpectNothing(ID, "too few instances", [this] { AddPeer(MakePausing(50), FEW); });
    ExpectNothing(ID, "a wait for a thread of Orthanc",
                  [this]
                  {
                    AddPeer(MakePausing(50));
                    evidence_.load.waiting = 3;
                  });
    UseStockSockets();
    ExpectNothing(ID, "a stall", [this] { AddPeer(WithStall(MakePausing(45), 40)); });
  }

  TEST_F(NetworkRulesTest, AReceiverThatTakesLongToAnswerIsFoundByNoOtherWait)
  {
    constexpr const char* ID = "receiver-bottleneck";
    ExpectNothing(ID, "an image is stored",
                  [this] { AddPeer(MakeWaiting(20), MANY, Direction::Send); });
    ExpectNothing(ID, "too few instances",
                  [this] { AddPeer(MakeWaiting(100), FEW, Direction::Send); });

    for (const SocketPreset preset : {SocketPreset::Stock, SocketPreset::Tuned})
    {
      evidence_.tuning.dicomSockets = *GetPresetValues(preset);
      ExpectNothing(ID, "a stall",
                    [&] { AddPeer(WithStall(MakeWaiting(80), 40), MANY, Direction::Send); });
    }

    AddPeer(MakeWaiting(100), MANY, Direction::Send);
    EXPECT_FALSE(Judge(ID, {{"MeanWait", 0.100}}).cost.gain);  // nobody can tell
  }

  TEST_F(NetworkRulesTest, TheSecondOfAMovescuThatReceivesItsOwnImagesIsFound)
  {
    AddSetups({1001, 1003, 1002, 3}, Direction::Send);
    const Finding finding = Judge("slow-association", {{"MedianSetupTime", 1.002}});
    EXPECT_EQ("slow-association-sending", finding.id);
    EXPECT_TRUE(Has(finding.explanation, "movescu"));
    EXPECT_EQ("Peer", finding.remedy.kind);
    EXPECT_GT(finding.cost.shareOfIngestTime, 0.5);
  }

  TEST_F(NetworkRulesTest, SlowNamesAreFoundButNotAccidentsAndDistance)
  {
    constexpr const char* ID = "slow-association";
    ExpectNothing(ID, "one of four", [this] { AddSetups({4, 5000, 3, 3}, Direction::Receive); });
    ExpectNothing(ID, "two only", [this] { AddSetups({1001, 1002}, Direction::Send); });
    ExpectNothing(ID, "a distance",
                  [this]
                  {
                    AddSetups({1250, 1260, 1255}, Direction::Send);
                    SetTcp(evidence_.peers[0], 600, 65536);
                  });
    AddSetups({5002, 5003, 5001}, Direction::Receive);
    const Finding finding = Judge(ID);
    EXPECT_EQ(ID, finding.id);
    EXPECT_EQ(0, finding.cost.shareOfIngestTime);
  }

  TEST_F(NetworkRulesTest, AssociationsThatFailAreFoundWithTheirReasonFromTheThirdOn)
  {
    constexpr const char* REJECTION = "called AE title not recognized";
    const auto judge = [this](std::uint64_t count, AssociationOutcome outcome, Direction direction)
    {
      evidence_.peers.clear();
      const char* const reason = outcome == AssociationOutcome::Rejected ? REJECTION : "";
      AddPeer(MakeHealthy(), MANY, direction).failed = {count, outcome, reason};
      return JudgeAll("failed-associations");
    };

    for (const AssociationOutcome outcome :
         {AssociationOutcome::Refused, AssociationOutcome::TimedOut,
          AssociationOutcome::Unreachable, AssociationOutcome::Unresolved,
          AssociationOutcome::TlsFailed, AssociationOutcome::Rejected,
          AssociationOutcome::Incomplete})
    {
      EXPECT_TRUE(judge(2, outcome, Direction::Send).empty());  // may be an accident
      const std::vector<Finding> findings = judge(3, outcome, Direction::Send);
      ASSERT_EQ(1U, findings.size());
      EXPECT_EQ(ToLabel(outcome), findings[0].evidence["Outcome"].asString());
      EXPECT_EQ(3U, findings[0].evidence["Failures"].asUInt());
      EXPECT_EQ(0, findings[0].cost.shareOfIngestTime);
    }

    const Finding rejected = judge(4, AssociationOutcome::Rejected, Direction::Send).at(0);
    EXPECT_EQ(REJECTION, rejected.evidence["Rejection"].asString());
    EXPECT_TRUE(Has(rejected.explanation, REJECTION));
    EXPECT_TRUE(judge(9, AssociationOutcome::Rejected, Direction::Receive).empty());
  }
}
