// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    class SmallPduRuleTest : public RuleTest
    {
    protected:
      SmallPduRuleTest()
      {
        evidence_.facts.configuration["MaximumPduLength"] = 4096;
      }
    };
  }


  TEST_F(SmallPduRuleTest, FindsSmallPdusAtAFastPeer)
  {
    AddPeer(MakeHealthy());  // 500 kB in 1 ms
    const Finding finding = Judge(&JudgeSmallPdu);
    EXPECT_EQ("small-pdus", finding.id);
    EXPECT_NEAR(500'000.0 / 4096, finding.evidence["PdusPerInstance"].asDouble(), 1e-3);
    EXPECT_EQ(131072, finding.remedy.document["MaximumPduLength"].asInt());
  }


  TEST_F(SmallPduRuleTest, TheDefaultIsLargeEnough)
  {
    evidence_.facts.configuration.removeMember("MaximumPduLength");
    AddPeer(MakeHealthy());
    EXPECT_FALSE(IsFound(&JudgeSmallPdu));
  }


  TEST_F(SmallPduRuleTest, ASlowPeerNearByDoesNotNoticeThem)
  {
    Sample sample = MakeHealthy();
    sample.phases[1].second = 100;
    AddPeer(sample);
    EXPECT_FALSE(IsFound(&JudgeSmallPdu));
    SetTcp(evidence_.peers[0], 50, 65536);  // but far away it does
    EXPECT_TRUE(IsFound(&JudgeSmallPdu));
  }


  TEST_F(SmallPduRuleTest, IsSilentWhereLargeImagesMayHaveWaitedForMemory)
  {
    Sample sample = MakeHealthy();
    sample.size = 5'000'000;
    SetTcp(AddPeer(sample), 50, 65536);
    evidence_.memory.waited = 0.001;
    EXPECT_TRUE(IsFound(&JudgeSmallPdu));
    evidence_.memory.waited = 1;
    EXPECT_FALSE(IsFound(&JudgeSmallPdu));
  }


  TEST_F(SmallPduRuleTest, HttpHasNoPdus)
  {
    AddPeer(MakeHealthy()).parties = {};
    EXPECT_FALSE(IsFound(&JudgeSmallPdu));
  }


  TEST_F(SmallPduRuleTest, IsSilentOnTooFewInstances)
  {
    AddPeer(MakeHealthy(), FEW);
    EXPECT_FALSE(IsFound(&JudgeSmallPdu));
  }
}
