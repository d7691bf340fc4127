// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    // 500 kB in nine round trips of 50 ms
    Sample MakeDistant(Phase transfer = Phase::Receive)
    {
      Sample sample;
      sample.phases = {{Phase::Idle, 50}, {transfer, 450}, {Phase::Index, 2}};
      sample.gap = 500;
      return sample;
    }

    // 500 kB in two and a half windows of 200,000 bytes over 100 ms
    Sample MakeThreeRoundTrips()
    {
      Sample sample;
      sample.phases = {{Phase::Idle, 100}, {Phase::Receive, 300}, {Phase::Index, 2}};
      sample.gap = 400;
      return sample;
    }

    class WindowRuleTest : public RuleTest
    {
    protected:
      bool IsSetBy(const std::string& limit) const
      {
        const std::vector<Finding> findings = JudgeAll("window");
        return std::any_of(findings.begin(), findings.end(),
                           [&limit](const Finding& finding)
                           { return finding.evidence["SetBy"].asString() == limit; });
      }

      void ExpectNotSetBy(const std::string& limit, const std::string& name,
                          const std::function<void()>& set)
      {
        ExpectNot([&] { return IsSetBy(limit); }, name, set);
      }
    };

    class TuningWindowTest : public WindowRuleTest
    {
    protected:
      TuningWindowTest()
      {
        evidence_.tuning.dicomSockets.receiveBuffer = SocketBuffer::MakeFixed(65536);
        evidence_.tuning.dicomSockets.sendBuffer = SocketBuffer::MakeFixed(65536);
      }
    };

    class KernelWindowTest : public WindowRuleTest
    {
    protected:
      KernelWindowTest()
      {
        evidence_.facts.kernel = {212'992, 212'992, 400'000};
      }
    };

    using PeerSendBufferTest = WindowRuleTest;

    class PeerReceiveBufferTest : public WindowRuleTest
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

  TEST_F(TuningWindowTest, ComparesTheRateWithWindowOverRoundTrip)
  {
    SetTcp(AddPeer(MakeDistant()), 50, 65536);
    const Finding finding = Judge("window");

    EXPECT_EQ("Tuning", finding.evidence["SetBy"].asString());
    EXPECT_DOUBLE_EQ(65536, finding.evidence["Window"].asDouble());
    EXPECT_NEAR(0.050, finding.evidence["RoundTrip"].asDouble(), 1e-6);
    EXPECT_NEAR(65536 / 0.050, finding.evidence["WindowLimit"].asDouble(), 1);
    EXPECT_NEAR(500'000 / 0.450, finding.evidence["Rate"].asDouble(), 1);
    // Two round trips instead of nine
    EXPECT_NEAR(502.0 / (502 - 350), *finding.cost.gain, 1e-2);

    const Tuning applied = Apply(finding);
    EXPECT_EQ(SocketBuffer(), applied.dicomSockets.receiveBuffer);
    EXPECT_EQ(SocketBuffer::MakeFixed(65536), applied.dicomSockets.sendBuffer);
  }

  TEST_F(TuningWindowTest, LooksAtTheSendBufferWhenOrthancSends)
  {
    SetTcp(AddPeer(MakeDistant(Phase::Send), MANY, Direction::Send), 50, 65536);
    const Finding finding = Judge("window");
    EXPECT_EQ("window-sending", finding.id);
    EXPECT_EQ(SocketBuffer(), Apply(finding).dicomSockets.sendBuffer);
  }

  TEST_F(TuningWindowTest, ABufferThatIsNotFixedOrFilledIsNotTheLimit)
  {
    ExpectNotSetBy("Tuning", "too few instances",
                   [this] { SetTcp(AddPeer(MakeDistant(), FEW), 50, 65536); });
    ExpectNotSetBy("Tuning", "a local network",
                   [this] { SetTcp(AddPeer(MakeDistant()), 0.2, 65536); });
    SetTcp(AddPeer(MakeDistant()), 50, 65536);
    ExpectNotSetBy("Tuning", "chosen by the kernel",
                   [this] { evidence_.tuning.dicomSockets.receiveBuffer = SocketBuffer(); });
    ExpectNotSetBy("Tuning", "not filled",
                   [this] {
                     evidence_.tuning.dicomSockets.receiveBuffer =
                         SocketBuffer::MakeFixed(1'000'000);
                   });
  }

  TEST_F(KernelWindowTest, AFixedBufferIsWhatTheKernelAllowsOfIt)
  {
    SetTcp(AddPeer(MakeThreeRoundTrips()), 100, 200'000);
    evidence_.tuning.dicomSockets.receiveBuffer = SocketBuffer::MakeFixed(4'000'000);
    const Finding finding = Judge("window");

    EXPECT_EQ("Tuning", finding.evidence["SetBy"].asString());
    EXPECT_DOUBLE_EQ(212'992, finding.evidence["Window"].asDouble());
    EXPECT_EQ(SocketBuffer(), Apply(finding).dicomSockets.receiveBuffer);
  }

  TEST_F(KernelWindowTest, NamesTheSysctlThatEndsAutotuning)
  {
    SetTcp(AddPeer(MakeThreeRoundTrips()), 100, 200'000);
    const Finding finding = Judge("window");
    EXPECT_EQ("net.ipv4.tcp_rmem", finding.evidence["Sysctl"].asString());
    EXPECT_NEAR(2e6, finding.evidence["WindowLimit"].asDouble(), 1);
    EXPECT_NEAR(500'000 / 0.3, finding.evidence["Rate"].asDouble(), 1);
  }

  TEST_F(KernelWindowTest, AWindowThatMayStillGrowOrWhoseLimitIsNotKnownIsNotAtItsEnd)
  {
    ExpectNotSetBy("Kernel", "may grow",
                   [this] { SetTcp(AddPeer(MakeThreeRoundTrips()), 100, 120'000); });
    ExpectNotSetBy("Kernel", "not known",
                   [this]
                   {
                     SetTcp(AddPeer(MakeThreeRoundTrips()), 100, 200'000);
                     evidence_.facts.kernel = {};
                   });
  }

  TEST_F(PeerSendBufferTest, FindsWhatThePeerSendsInARoundTrip)
  {
    SetTcp(AddPeer(MakeDistant()), 50, 1'000'000);
    const Finding finding = Judge("window");
    EXPECT_EQ("PeerSendBuffer", finding.evidence["SetBy"].asString());
    EXPECT_NEAR(500'000 / 9.0, finding.evidence["UnderWay"].asDouble(), 1);
    EXPECT_EQ("OFFIS_DCMTK_367", finding.evidence["Implementation"].asString());
    EXPECT_FALSE(finding.cost.gain);  // nobody can tell
    EXPECT_EQ("Peer", finding.remedy.kind);
  }

  TEST_F(PeerSendBufferTest, IsSilentOnASmallWindowOfOursAndSmallInstances)
  {
    ExpectNotSetBy("PeerSendBuffer", "our window",
                   [this] { SetTcp(AddPeer(MakeDistant()), 50, 65536); });
    Sample small = MakeDistant();
    small.size = 60'000;
    small.phases[1].second = 50;
    ExpectNotSetBy("PeerSendBuffer", "one round trip",
                   [&] { SetTcp(AddPeer(small), 50, 1'000'000); });

    SetTcp(AddPeer(MakeDistant()), 50, 1'000'000);
    evidence_.memory.waited = 1000;  // not by such images
    EXPECT_TRUE(IsSetBy("PeerSendBuffer"));
  }

  TEST_F(PeerSendBufferTest, IsSilentWhereLargeImagesMayHaveWaitedForMemory)
  {
    Sample sample = MakeDistant();
    sample.size = 5'000'000;
    sample.phases[1].second = 4500;
    SetTcp(AddPeer(sample), 50, 1'000'000);
    const double received = evidence_.peers[0].traffic.GetSeconds(Phase::Receive);
    evidence_.memory.waited = 0.04 * received;
    EXPECT_TRUE(IsSetBy("PeerSendBuffer"));
    evidence_.memory.waited = 0.06 * received;
    EXPECT_FALSE(IsSetBy("PeerSendBuffer"));
  }

  TEST_F(PeerReceiveBufferTest, TakesTheKernelsWordForIt)
  {
    AddReceiver(2000, 1500);
    const Finding finding = Judge("window");
    EXPECT_EQ("PeerReceiveBuffer", finding.evidence["SetBy"].asString());
    EXPECT_NEAR(1.5, finding.evidence["WindowLimited"].asDouble(), 1e-6);
    EXPECT_NEAR(0.75, finding.cost.shareOfIngestTime, 1e-6);
    EXPECT_FALSE(finding.cost.gain);  // nobody can tell
    EXPECT_EQ("Peer", finding.remedy.kind);
  }

  TEST_F(PeerReceiveBufferTest, IsSilentWhereTheKernelDoesNotComplainAndOnTooLittleEvidence)
  {
    ExpectNotSetBy("PeerReceiveBuffer", "seldom full", [this] { AddReceiver(2000, 200); });
    ExpectNotSetBy("PeerReceiveBuffer", "the line",
                   [this] { AddReceiver(2000, 100).tcp->sendWindow = 400'000; });
    ExpectNotSetBy("PeerReceiveBuffer", "too little time", [this] { AddReceiver(200, 190); });
    ExpectNotSetBy("PeerReceiveBuffer", "too few instances",
                   [this] { AddReceiver(2000, 1500, FEW); });
    ExpectNotSetBy("PeerReceiveBuffer", "a kernel that does not tell",
                   [this] { AddReceiver(2000, 1500).tcp->busy.reset(); });
  }

  TEST_F(PeerReceiveBufferTest, FindsAWindowThatIsFullThoughCongestionControlPaces)
  {
    AddReceiver(2000, 400).tcp->sendWindow = 400'000;
    const Finding finding = Judge("window");
    EXPECT_EQ(8e6, finding.evidence["WindowLimit"].asDouble());  // 400 kB in 50 ms
    EXPECT_NEAR(5e6, finding.evidence["Rate"].asDouble(), 1);
  }
}
