// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    // 500 kB, 55 kB in each round trip of 50 ms
    Sample MakeDistant()
    {
      Sample sample;
      sample.phases = {{Phase::Idle, 50}, {Phase::Receive, 450}, {Phase::Index, 2}};
      sample.gap = 500;
      return sample;
    }

    class PeerBufferRuleTest : public RuleTest
    {
    };
  }


  TEST_F(PeerBufferRuleTest, FindsWhatThePeerSendsInARoundTrip)
  {
    SetTcp(AddPeer(MakeDistant()), 50, 1'000'000);
    const Finding finding = Judge("peer-buffers");
    EXPECT_EQ("peer-buffers", finding.id);
    EXPECT_NEAR(500'000 / 9.0, finding.evidence["UnderWay"].asDouble(), 1);
    EXPECT_EQ("OFFIS_DCMTK_367", finding.evidence["Implementation"].asString());
    EXPECT_FALSE(finding.cost.gain);  // nobody can tell
    EXPECT_EQ("Peer", finding.remedy.kind);
  }


  TEST_F(PeerBufferRuleTest, WhereOurWindowIsAsSmallItIsNotThePeer)
  {
    SetTcp(AddPeer(MakeDistant()), 50, 65536);
    EXPECT_FALSE(IsFound("peer-buffers"));
  }


  TEST_F(PeerBufferRuleTest, InstancesThatFitIntoARoundTripSayNothing)
  {
    Sample sample = MakeDistant();
    sample.size = 60'000;
    sample.phases[1].second = 50;
    SetTcp(AddPeer(sample), 50, 1'000'000);
    EXPECT_FALSE(IsFound("peer-buffers"));
  }


  TEST_F(PeerBufferRuleTest, IsSilentWhereLargeImagesMayHaveWaitedForMemory)
  {
    Sample sample = MakeDistant();
    sample.size = 5'000'000;
    sample.phases[1].second = 4500;
    SetTcp(AddPeer(sample), 50, 1'000'000);
    const double received = evidence_.peers[0].traffic.GetSeconds(Phase::Receive);
    evidence_.memory.waited = 0.04 * received;
    EXPECT_TRUE(IsFound("peer-buffers"));
    evidence_.memory.waited = 0.06 * received;
    EXPECT_FALSE(IsFound("peer-buffers"));
  }


  TEST_F(PeerBufferRuleTest, SmallImagesDoNotWaitForMemory)
  {
    SetTcp(AddPeer(MakeDistant()), 50, 1'000'000);
    evidence_.memory.waited = 1000;
    EXPECT_TRUE(IsFound("peer-buffers"));
  }


  TEST_F(PeerBufferRuleTest, IsSilentOnALocalNetwork)
  {
    SetTcp(AddPeer(MakeDistant()), 0.2, 1'000'000);
    EXPECT_FALSE(IsFound("peer-buffers"));
  }


  TEST_F(PeerBufferRuleTest, IsSilentOnTooFewInstances)
  {
    SetTcp(AddPeer(MakeDistant(), FEW), 50, 1'000'000);
    EXPECT_FALSE(IsFound("peer-buffers"));
  }
}
