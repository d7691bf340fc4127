// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    Sample MakePausing(double pause)
    {
      Sample sample = MakeHealthy();
      sample.phases[0].second = pause;
      return sample;
    }

    class SenderRuleTest : public RuleTest
    {
    };
  }

  TEST_F(SenderRuleTest, FindsASenderThatPausesFor50Milliseconds)
  {
    AddPeer(MakePausing(50));
    const Finding finding = Judge("sender-bottleneck");
    EXPECT_EQ("sender-bottleneck", finding.id);
    EXPECT_NEAR(0.050, finding.evidence["MeanPause"].asDouble(), 1e-6);
    EXPECT_NEAR(50.0 / 55, finding.evidence["PauseShare"].asDouble(), 1e-6);
    EXPECT_NEAR(0.005, finding.evidence["MeanDuration"].asDouble(), 1e-6);
    EXPECT_FALSE(finding.cost.gain);  // nobody can tell
    EXPECT_EQ("Peer", finding.remedy.kind);
  }

  TEST_F(SenderRuleTest, IsSilentOnOtherPauses)
  {
    ExpectNothing("sender-bottleneck", "an image is read", [this] { AddPeer(MakePausing(12)); });
    ExpectNothing("sender-bottleneck", "a round trip",
                  [this] { SetTcp(AddPeer(MakePausing(51)), 50, 65536); });
    ExpectNothing("sender-bottleneck", "a scanner that acquires one a second",
                  [this] { AddPeer(MakePausing(1500)); });
    ExpectNothing("sender-bottleneck", "too few instances",
                  [this] { AddPeer(MakePausing(50), FEW); });
    ExpectNothing("sender-bottleneck", "a wait for a thread of Orthanc",
                  [this]
                  {
                    AddPeer(MakePausing(50));
                    evidence_.load.waiting = 3;
                  });
    ExpectNothing("sender-bottleneck", "a stall",
                  [this]
                  {
                    Sample sample = MakePausing(45);
                    sample.stalls = 1;
                    sample.stallTime = 40;
                    evidence_.tuning.dicomSockets = *GetPresetValues(SocketPreset::Stock);
                    AddPeer(sample);
                  });
  }
}
