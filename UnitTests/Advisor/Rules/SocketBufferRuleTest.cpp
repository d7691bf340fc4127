// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    // 500 kB in ten windows of 64 KiB over 50 ms
    Sample MakeDistant(Phase transfer = Phase::Receive)
    {
      Sample sample;
      sample.phases = {{Phase::Idle, 50}, {transfer, 450}, {Phase::Index, 2}};
      sample.gap = 500;
      return sample;
    }


    class SocketBufferRuleTest : public RuleTest
    {
    protected:
      SocketBufferRuleTest()
      {
        evidence_.tuning.dicomSockets.receiveBuffer = SocketBuffer::MakeFixed(65536);
        evidence_.tuning.dicomSockets.sendBuffer = SocketBuffer::MakeFixed(65536);
      }
    };
  }


  TEST_F(SocketBufferRuleTest, ComparesTheRateWithWindowOverRoundTrip)
  {
    SetTcp(AddPeer(MakeDistant()), 50, 65536);
    const Finding finding = Judge("socket-buffers");

    EXPECT_EQ("socket-buffers", finding.id);
    EXPECT_DOUBLE_EQ(65536, finding.evidence["Buffer"].asDouble());
    EXPECT_NEAR(0.050, finding.evidence["RoundTrip"].asDouble(), 1e-6);
    EXPECT_NEAR(65536 / 0.050, finding.evidence["WindowLimit"].asDouble(), 1);
    EXPECT_NEAR(500'000 / 0.450, finding.evidence["Rate"].asDouble(), 1);
    // Two round trips instead of nine
    EXPECT_NEAR(502.0 / (502 - 350), *finding.cost.gain, 1e-2);

    const Tuning applied = Apply(finding);
    EXPECT_EQ(SocketBuffer::MakeAutomatic(), applied.dicomSockets.receiveBuffer);
    EXPECT_EQ(SocketBuffer::MakeFixed(65536), applied.dicomSockets.sendBuffer);
  }


  TEST_F(SocketBufferRuleTest, LooksAtTheSendBufferWhenOrthancSends)
  {
    SetTcp(AddPeer(MakeDistant(Phase::Send), MANY, Direction::Send), 50, 65536);
    const Finding finding = Judge("socket-buffers");
    EXPECT_EQ("socket-buffers-sending", finding.id);
    EXPECT_EQ(SocketBuffer::MakeAutomatic(), Apply(finding).dicomSockets.sendBuffer);
  }


  TEST_F(SocketBufferRuleTest, ABufferThatTheKernelChoosesIsNotFixed)
  {
    SetTcp(AddPeer(MakeDistant()), 50, 65536);
    evidence_.tuning.dicomSockets.receiveBuffer = SocketBuffer::MakeAutomatic();
    EXPECT_FALSE(IsFound("socket-buffers"));
  }


  TEST_F(SocketBufferRuleTest, OnALocalNetworkTheBufferDoesNotMatter)
  {
    SetTcp(AddPeer(MakeDistant()), 0.2, 65536);
    EXPECT_FALSE(IsFound("socket-buffers"));
  }


  TEST_F(SocketBufferRuleTest, ABufferThatIsNotFilledIsNotTheLimit)
  {
    SetTcp(AddPeer(MakeDistant()), 50, 65536);
    evidence_.tuning.dicomSockets.receiveBuffer = SocketBuffer::MakeFixed(1'000'000);
    EXPECT_FALSE(IsFound("socket-buffers"));
  }


  TEST_F(SocketBufferRuleTest, IsSilentOnTooFewInstances)
  {
    SetTcp(AddPeer(MakeDistant(), FEW), 50, 65536);
    EXPECT_FALSE(IsFound("socket-buffers"));
  }
}
