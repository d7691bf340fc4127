// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    // 500 kB in two and a half windows of 200,000 bytes over 100 ms
    Sample MakeDistant()
    {
      Sample sample;
      sample.phases = {{Phase::Idle, 100}, {Phase::Receive, 300}, {Phase::Index, 2}};
      sample.gap = 400;
      return sample;
    }


    class KernelBufferRuleTest : public RuleTest
    {
    protected:
      KernelBufferRuleTest()
      {
        evidence_.facts.kernel = {212'992, 212'992, 400'000};
      }
    };
  }


  TEST_F(KernelBufferRuleTest, NamesTheSysctlThatCapsAFixedBuffer)
  {
    SetTcp(AddPeer(MakeDistant()), 100, 200'000);
    evidence_.tuning.dicomSockets.receiveBuffer = SocketBuffer::MakeFixed(4'000'000);
    const Finding finding = Judge("kernel-buffer-limit");

    EXPECT_EQ("kernel-buffer-limit", finding.id);
    EXPECT_EQ("net.core.rmem_max", finding.evidence["Sysctl"].asString());
    EXPECT_DOUBLE_EQ(212'992, finding.evidence["Limit"].asDouble());
    EXPECT_EQ("System", finding.remedy.kind);
    EXPECT_NE(std::string::npos, finding.remedy.text.find("net.core.rmem_max=\"4000000\""));
  }


  TEST_F(KernelBufferRuleTest, NamesTheSysctlThatEndsAutotuning)
  {
    SetTcp(AddPeer(MakeDistant()), 100, 200'000);
    const Finding finding = Judge("kernel-buffer-limit");
    EXPECT_EQ("net.ipv4.tcp_rmem", finding.evidence["Sysctl"].asString());
    EXPECT_NEAR(2e6, finding.evidence["WindowLimit"].asDouble(), 1);
    EXPECT_NEAR(500'000 / 0.3, finding.evidence["Rate"].asDouble(), 1);
  }


  TEST_F(KernelBufferRuleTest, AWindowThatMayStillGrowIsNotAtItsEnd)
  {
    SetTcp(AddPeer(MakeDistant()), 100, 120'000);
    EXPECT_FALSE(IsFound("kernel-buffer-limit"));
  }


  TEST_F(KernelBufferRuleTest, AFixedBufferThatTheKernelAllowsIsNotCapped)
  {
    SetTcp(AddPeer(MakeDistant()), 100, 200'000);
    evidence_.tuning.dicomSockets.receiveBuffer = SocketBuffer::MakeFixed(200'000);
    EXPECT_FALSE(IsFound("kernel-buffer-limit"));
  }


  TEST_F(KernelBufferRuleTest, IsSilentWhereTheLimitIsNotKnown)
  {
    SetTcp(AddPeer(MakeDistant()), 100, 200'000);
    evidence_.facts.kernel = {};
    EXPECT_FALSE(IsFound("kernel-buffer-limit"));
  }


  TEST_F(KernelBufferRuleTest, IsSilentOnTooFewInstances)
  {
    SetTcp(AddPeer(MakeDistant(), FEW), 100, 200'000);
    EXPECT_FALSE(IsFound("kernel-buffer-limit"));
  }
}
