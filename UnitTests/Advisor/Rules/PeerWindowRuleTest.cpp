// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    class PeerWindowRuleTest : public RuleTest
    {
    protected:
      PeerEvidence& AddReceiver(double busy, double limited, int count = MANY)
      {
        Sample sample;
        sample.phases = {{Phase::Send, 80}, {Phase::Wait, 20}};
        PeerEvidence& peer = AddPeer(sample, count, Direction::Send);
        SetTcp(peer, 50, 65536);
        peer.tcp->sendWindow = 1'000'000;  // not full at 5 MB/s
        peer.tcp->busy = ToDuration(Milliseconds(busy));
        peer.tcp->receiveWindowLimited = ToDuration(Milliseconds(limited));
        return peer;
      }
    };
  }


  TEST_F(PeerWindowRuleTest, TakesTheKernelsWordForIt)
  {
    AddReceiver(2000, 1500);
    const Finding finding = Judge("peer-window");
    EXPECT_EQ("peer-window", finding.id);
    EXPECT_NEAR(1.5, finding.evidence["WindowLimited"].asDouble(), 1e-6);
    EXPECT_NEAR(0.75, finding.cost.shareOfIngestTime, 1e-6);
    EXPECT_FALSE(finding.cost.gain);  // nobody can tell
    EXPECT_EQ("Peer", finding.remedy.kind);
  }


  TEST_F(PeerWindowRuleTest, IsSilentWhereTheWindowIsSeldomFull)
  {
    AddReceiver(2000, 200);
    EXPECT_FALSE(IsFound("peer-window"));
  }


  TEST_F(PeerWindowRuleTest, FindsAWindowThatIsFullThoughCongestionControlPaces)
  {
    AddReceiver(2000, 400).tcp->sendWindow = 400'000;
    const Finding finding = Judge("peer-window");
    EXPECT_EQ(8e6, finding.evidence["WindowLimit"].asDouble());  // 400 kB in 50 ms
    EXPECT_NEAR(5e6, finding.evidence["Rate"].asDouble(), 1);
  }


  TEST_F(PeerWindowRuleTest, AFullWindowThatTheKernelDoesNotComplainOfIsTheLines)
  {
    AddReceiver(2000, 100).tcp->sendWindow = 400'000;
    EXPECT_FALSE(IsFound("peer-window"));
  }


  TEST_F(PeerWindowRuleTest, IsSilentOnTooLittleEvidence)
  {
    AddReceiver(200, 190);
    EXPECT_FALSE(IsFound("peer-window"));
    evidence_.peers.clear();
    AddReceiver(2000, 1500, FEW);
    EXPECT_FALSE(IsFound("peer-window"));
  }


  TEST_F(PeerWindowRuleTest, IsSilentOnAKernelThatDoesNotTell)
  {
    AddReceiver(2000, 1500).tcp->busy.reset();
    EXPECT_FALSE(IsFound("peer-window"));
  }
}
