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

  TEST_F(DelayedAckRuleTest, IsSilentOnOtherWaits)
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
}
