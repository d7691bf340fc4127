// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    Sample MakeWaiting(double wait)
    {
      Sample sample;
      sample.phases = {{Phase::Idle, 1}, {Phase::Send, 2}, {Phase::Wait, wait}};
      return sample;
    }

    class ReceiverRuleTest : public RuleTest
    {
    };
  }

  TEST_F(ReceiverRuleTest, FindsAReceiverThatTakesLongToAnswer)
  {
    AddPeer(MakeWaiting(100), MANY, Direction::Send);
    const Finding finding = Judge("receiver-bottleneck");
    EXPECT_EQ("receiver-bottleneck", finding.id);
    EXPECT_NEAR(0.100, finding.evidence["MeanWait"].asDouble(), 1e-6);
    EXPECT_FALSE(finding.cost.gain);  // nobody can tell
  }

  TEST_F(ReceiverRuleTest, IsSilentOnOtherWaits)
  {
    ExpectNothing("receiver-bottleneck", "an image is stored",
                  [this] { AddPeer(MakeWaiting(20), MANY, Direction::Send); });
    ExpectNothing("receiver-bottleneck", "too few instances",
                  [this] { AddPeer(MakeWaiting(100), FEW, Direction::Send); });
    Sample stalled = MakeWaiting(80);
    stalled.stalls = 1;
    stalled.stallTime = 40;

    for (const SocketPreset preset : {SocketPreset::Stock, SocketPreset::Tuned})
    {
      evidence_.tuning.dicomSockets = *GetPresetValues(preset);
      ExpectNothing("receiver-bottleneck", "a stall",
                    [&] { AddPeer(stalled, MANY, Direction::Send); });
    }
  }
}
