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
      void FixBuffers(std::uint32_t size)
      {
        evidence_.tuning.dicomSockets.receiveBuffer = SocketBuffer::MakeFixed(size);
        evidence_.tuning.dicomSockets.sendBuffer = SocketBuffer::MakeFixed(size);
      }

      Finding JudgeSetBy(const std::string& limit,
                         const std::vector<std::pair<const char*, double>>& figures) const
      {
        Finding finding = Judge("window", figures);
        EXPECT_EQ(limit, finding.evidence["SetBy"].asString());
        return finding;
      }

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

      const KernelLimits limits_ = {212'992, 212'992, 400'000};
    };
  }

  TEST_F(WindowRuleTest, AFixedBufferIsComparedWithRateTimesRoundTrip)
  {
    FixBuffers(65536);
    SetTcp(AddPeer(MakeDistant()), 50, 65536);
    Finding finding = JudgeSetBy("Tuning", {{"Window", 65536},
                                            {"RoundTrip", 0.050},
                                            {"WindowLimit", 65536 / 0.050},
                                            {"Rate", 500'000 / 0.450}});
    EXPECT_NEAR(502.0 / (502 - 350), *finding.cost.gain, 1e-2);  // two round trips instead of nine
    const Tuning applied = Apply(finding);
    EXPECT_EQ(SocketBuffer(), applied.dicomSockets.receiveBuffer);
    EXPECT_EQ(SocketBuffer::MakeFixed(65536), applied.dicomSockets.sendBuffer);

    evidence_.peers.clear();
    SetTcp(AddPeer(MakeDistant(Phase::Send), MANY, Direction::Send), 50, 65536);
    finding = Judge("window");
    EXPECT_EQ("window-sending", finding.id);
    EXPECT_EQ(SocketBuffer(), Apply(finding).dicomSockets.sendBuffer);

    evidence_.peers.clear();  // of a larger one, what the kernel allows counts
    evidence_.facts.kernel = limits_;
    FixBuffers(4'000'000);
    SetTcp(AddPeer(MakeThreeRoundTrips()), 100, 200'000);
    EXPECT_EQ(SocketBuffer(),
              Apply(JudgeSetBy("Tuning", {{"Window", 212'992}})).dicomSockets.receiveBuffer);
  }

  TEST_F(WindowRuleTest, ABufferThatIsNotFixedOrFilledIsNotTheLimit)
  {
    FixBuffers(65536);
    ExpectNotSetBy("Tuning", "too few instances",
                   [this] { SetTcp(AddPeer(MakeDistant(), FEW), 50, 65536); });
    ExpectNotSetBy("Tuning", "a local network",
                   [this] { SetTcp(AddPeer(MakeDistant()), 0.2, 65536); });
    SetTcp(AddPeer(MakeDistant()), 50, 65536);
    ExpectNotSetBy("Tuning", "chosen by the kernel",
                   [this] { evidence_.tuning.dicomSockets.receiveBuffer = SocketBuffer(); });
    ExpectNotSetBy("Tuning", "not filled", [this] { FixBuffers(1'000'000); });
  }

  TEST_F(WindowRuleTest, TheSysctlThatEndsAutotuningIsNamedOnceTheWindowIsAtItsEnd)
  {
    evidence_.facts.kernel = limits_;
    ExpectNotSetBy("Kernel", "may grow",
                   [this] { SetTcp(AddPeer(MakeThreeRoundTrips()), 100, 120'000); });
    SetTcp(AddPeer(MakeThreeRoundTrips()), 100, 200'000);
    ExpectNotSetBy("Kernel", "not known", [this] { evidence_.facts.kernel = {}; });
    const Finding finding = JudgeSetBy("Kernel", {{"WindowLimit", 2e6}, {"Rate", 500'000 / 0.3}});
    EXPECT_EQ("net.ipv4.tcp_rmem", finding.evidence["Sysctl"].asString());
  }

  TEST_F(WindowRuleTest, WhatThePeerSendsInARoundTripIsFound)
  {
    ExpectNotSetBy("PeerSendBuffer", "our window",
                   [this] { SetTcp(AddPeer(MakeDistant()), 50, 65536); });
    Sample small = MakeDistant();
    small.size = 60'000;
    small.phases[1].second = 50;
    ExpectNotSetBy("PeerSendBuffer", "one round trip",
                   [&] { SetTcp(AddPeer(small), 50, 1'000'000); });

    SetTcp(AddPeer(MakeDistant()), 50, 1'000'000);
    const Finding finding = JudgeSetBy("PeerSendBuffer", {{"UnderWay", 500'000 / 9.0}});
    EXPECT_EQ("OFFIS_DCMTK_367", finding.evidence["Implementation"].asString());
    EXPECT_FALSE(finding.cost.gain);  // nobody can tell
    EXPECT_EQ("Peer", finding.remedy.kind);
    evidence_.memory.waited = 1000;  // not by such images
    EXPECT_TRUE(IsSetBy("PeerSendBuffer"));
  }

  TEST_F(WindowRuleTest, LargeImagesThatMayHaveWaitedForMemoryAreNoSignOfThePeersBuffer)
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

  TEST_F(WindowRuleTest, AFullWindowOfThePeerIsFoundWhereTheKernelSaysSo)
  {
    constexpr const char* LIMIT = "PeerReceiveBuffer";
    ExpectNotSetBy(LIMIT, "seldom full", [this] { AddReceiver(2000, 200); });
    ExpectNotSetBy(LIMIT, "the line", [this] { AddReceiver(2000, 100).tcp->sendWindow = 400'000; });
    ExpectNotSetBy(LIMIT, "too little time", [this] { AddReceiver(200, 190); });
    ExpectNotSetBy(LIMIT, "too few instances", [this] { AddReceiver(2000, 1500, FEW); });
    ExpectNotSetBy(LIMIT, "a kernel that does not tell",
                   [this] { AddReceiver(2000, 1500).tcp->busy.reset(); });

    AddReceiver(2000, 1500);
    const Finding finding = JudgeSetBy(LIMIT, {{"WindowLimited", 1.5}});
    EXPECT_NEAR(0.75, finding.cost.shareOfIngestTime, 1e-6);
    EXPECT_FALSE(finding.cost.gain);  // nobody can tell
    EXPECT_EQ("Peer", finding.remedy.kind);

    evidence_.peers.clear();
    AddReceiver(2000, 400).tcp->sendWindow = 400'000;  // in 50 ms; congestion control paces
    JudgeSetBy(LIMIT, {{"WindowLimit", 8e6}, {"Rate", 5e6}});
  }
}
