// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    class DelayedAckRuleTest : public RuleTest
    {
    protected:
      static Sample MakeStalled(double stall)
      {
        Sample sample = MakeHealthy();
        sample.phases[0].second += stall;  // idle: where the held back response lies
        sample.stalls = 1;
        sample.stallTime = stall;
        return sample;
      }

      void UseStockSockets()
      {
        evidence_.tuning.dicomSockets = *GetPresetValues(SocketPreset::Stock);
      }
    };
  }


  TEST_F(DelayedAckRuleTest, FindsLinuxStallsAndTheTuningThatEndsThem)
  {
    UseStockSockets();
    AddPeer(MakeStalled(40));
    const Finding finding = Judge("delayed-ack");

    EXPECT_EQ("delayed-ack", finding.id);
    EXPECT_EQ("CT_ROOM_1", finding.peer);
    EXPECT_NEAR(0.040, finding.evidence["MeanStall"].asDouble(), 1e-6);
    EXPECT_NEAR(1, finding.evidence["StallsPerInstance"].asDouble(), 1e-6);
    EXPECT_NEAR(40.0 / 46, finding.evidence["StallShare"].asDouble(), 1e-6);
    EXPECT_NEAR(40.0 / 46, finding.cost.shareOfIngestTime, 1e-6);
    EXPECT_NEAR(46.0 / 6, *finding.cost.gain, 1e-3);
    EXPECT_NE(std::string::npos, finding.explanation.find("Linux"));
    EXPECT_TRUE(Apply(finding).dicomSockets.tcpNoDelay);
    EXPECT_TRUE(Apply(finding).dicomSockets.tcpQuickAck);
  }


  TEST_F(DelayedAckRuleTest, FindsTheStallsOfWindows)
  {
    UseStockSockets();
    AddPeer(MakeStalled(200));
    EXPECT_NE(std::string::npos, Judge("delayed-ack").explanation.find("Windows"));
  }


  TEST_F(DelayedAckRuleTest, FindsThemInTheOtherDirection)
  {
    UseStockSockets();
    Sample sample;
    sample.phases = {{Phase::Send, 1}, {Phase::Wait, 45}};
    sample.stalls = 1;
    sample.stallTime = 40;
    AddPeer(sample, MANY, Direction::Send);
    EXPECT_EQ("delayed-ack-sending", Judge("delayed-ack").id);
  }


  TEST_F(DelayedAckRuleTest, IsSilentOnTooFewInstances)
  {
    UseStockSockets();
    AddPeer(MakeStalled(40), FEW);
    EXPECT_FALSE(IsFound("delayed-ack"));
  }


  TEST_F(DelayedAckRuleTest, IsSilentWhereStallsTakeLittleOfTheTime)
  {
    UseStockSockets();
    AddPeer(MakeHealthy(), 2000);
    evidence_.peers[0].traffic.stalls = 12;
    evidence_.peers[0].traffic.stallSeconds = 12 * 0.040;
    EXPECT_FALSE(IsFound("delayed-ack"));
  }


  TEST_F(DelayedAckRuleTest, WaitsOfARoundTripAreNoStalls)
  {
    UseStockSockets();
    SetTcp(AddPeer(MakeStalled(52)), 50, 65536);
    EXPECT_FALSE(IsFound("delayed-ack"));
  }


  TEST_F(DelayedAckRuleTest, FindsStallsOnTopOfARoundTrip)
  {
    UseStockSockets();
    SetTcp(AddPeer(MakeStalled(92)), 50, 65536);
    EXPECT_TRUE(IsFound("delayed-ack"));
  }


  // HAProxy, say
  TEST_F(DelayedAckRuleTest, WhereOurSideIsTunedAWaitOfATimerIsThatOfWhatIsBetween)
  {
    AddPeer(MakeStalled(42.5));
    const Finding finding = Judge("delayed-ack");
    EXPECT_EQ("System", finding.remedy.kind);
    EXPECT_NE(std::string::npos, finding.remedy.text.find("load balancer"));
  }


  // For what was lost, two round trips and more are waited
  TEST_F(DelayedAckRuleTest, WhereOurSideIsTunedAWaitOverADistanceIsNone)
  {
    SetTcp(AddPeer(MakeStalled(42.5)), 20, 65536);
    EXPECT_FALSE(IsFound("delayed-ack"));
  }


  TEST_F(DelayedAckRuleTest, WhereOurSideIsTunedAnotherWaitIsThePeersOwn)
  {
    for (const double pause : {30.0, 70.0, 160.0, 204.0, 280.0})
    {
      evidence_.peers.clear();
      AddPeer(MakeStalled(pause));
      EXPECT_FALSE(IsFound("delayed-ack")) << pause;
    }
  }


  TEST_F(DelayedAckRuleTest, IsSilentAboutClientsOfTheHttpServer)
  {
    UseStockSockets();
    AddPeer(MakeStalled(40)).parties = {};
    EXPECT_FALSE(IsFound("delayed-ack"));
  }


  TEST_F(DelayedAckRuleTest, AWaitNowAndThenIsABusyMachine)
  {
    UseStockSockets();
    AddPeer(MakeStalled(40), 200);
    evidence_.peers[0].traffic.stalls *= 0.1;
    evidence_.peers[0].traffic.stallSeconds *= 0.1;
    EXPECT_FALSE(IsFound("delayed-ack"));
  }
}
