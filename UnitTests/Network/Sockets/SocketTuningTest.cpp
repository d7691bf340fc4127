// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Sockets/SocketTuning.h"

#include "Network/Sockets/TcpInfo.h"
#include "Network/TcpPair.h"

#include <array>
#include <cerrno>
#include <fstream>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <netinet/tcp.h>
#include <thread>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::seconds;

    void Transfer(int from, int to, std::size_t size)
    {
      std::thread sender([&] { SendAll(from, std::string(size, 'x')); });
      ReceiveAll(to, size);
      sender.join();
    }
  }

  TEST(SocketTuning, SetsWhatIsAskedAndReadsItBack)
  {
    TcpPair pair;
    DicomSockets settings = MakeStock();
    settings.tcpNoDelay = true;
    settings.receiveBuffer = SocketBuffer::MakeFixed(100000);
    settings.sendBuffer = SocketBuffer::MakeFixed(50000);
    settings.keepAlive = seconds(77);
    settings.userTimeout = seconds(33);
    settings.congestionControl = "reno";

    ASSERT_EQ(SocketErrors(), ApplySocketSettings(pair.GetServer(), settings));

    const SocketOptions options = ReadSocketOptions(pair.GetServer());
    EXPECT_TRUE(options.noDelay.value());
    EXPECT_EQ(200000u, options.receiveBuffer.value());  // socket(7): doubled by the kernel
    EXPECT_EQ(100000u, options.sendBuffer.value());
    EXPECT_EQ(77u, options.keepAlive.value());
    EXPECT_EQ(33u, options.userTimeout.value());
    EXPECT_EQ("reno", options.congestionControl);

    settings.keepAlive = seconds(0);
    ApplySocketSettings(pair.GetServer(), settings);
    EXPECT_EQ(0u, ReadSocketOptions(pair.GetServer()).keepAlive.value());
  }

  TEST(SocketTuning, TouchesNothingByDefault)
  {
    TcpPair pair;
    const SocketOptions before = ReadSocketOptions(pair.GetServer());
    EXPECT_EQ(SocketErrors(), ApplySocketSettings(pair.GetServer(), MakeStock()));
    const SocketOptions after = ReadSocketOptions(pair.GetServer());

    EXPECT_EQ(before.noDelay, after.noDelay);
    EXPECT_EQ(before.receiveBuffer, after.receiveBuffer);
    EXPECT_EQ(before.sendBuffer, after.sendBuffer);
    EXPECT_EQ(before.isReceiveBufferFixed, after.isReceiveBufferFixed);
    EXPECT_EQ(before.keepAlive, after.keepAlive);
    EXPECT_EQ(before.congestionControl, after.congestionControl);
  }

  TEST(SocketTuning, AutomaticBuffersUndoFixedOnes)
  {
    TcpPair pair;

    if (!ReadSocketOptions(pair.GetServer()).isReceiveBufferFixed)
    {
      GTEST_SKIP() << "SO_BUF_LOCK needs Linux 5.14";
    }

    DicomSockets settings = MakeStock();
    settings.receiveBuffer = SocketBuffer::MakeFixed(16384);
    settings.sendBuffer = SocketBuffer::MakeFixed(16384);
    ApplySocketSettings(pair.GetServer(), settings);
    ASSERT_EQ(32768u, ReadSocketOptions(pair.GetServer()).receiveBuffer.value());
    ASSERT_EQ(32768u, ReadSocketOptions(pair.GetServer()).sendBuffer.value());

    settings.receiveBuffer = SocketBuffer();
    settings.sendBuffer = SocketBuffer();
    ASSERT_EQ(SocketErrors(), ApplySocketSettings(pair.GetServer(), settings));
    Transfer(pair.GetClient(), pair.GetServer(), 32000000);
    Transfer(pair.GetServer(), pair.GetClient(), 32000000);

    const SocketOptions options = ReadSocketOptions(pair.GetServer());
    EXPECT_FALSE(options.isReceiveBufferFixed.value());
    EXPECT_FALSE(options.isSendBufferFixed.value());
    EXPECT_LT(32768u, options.receiveBuffer.value());
    EXPECT_LT(32768u, options.sendBuffer.value());
  }

  TEST(SocketTuning, GoesBackToTheSystemsCongestionControl)
  {
    TcpPair pair;
    const int fd = pair.GetServer();
    DicomSockets settings = MakeStock();

    // That of a route, which is left alone, comes last
    for (const char* name : {"reno", "cubic", ""})
    {
      settings.congestionControl = name;
      EXPECT_EQ(SocketErrors(), ApplySocketSettings(fd, settings));
      EXPECT_EQ(*name == 0 ? "cubic" : name, ReadSocketOptions(fd).congestionControl);
    }

    settings.congestionControl = "no-such-thing";
    EXPECT_EQ(ENOENT, ApplySocketSettings(fd, settings).back());
    EXPECT_EQ("cubic", ReadSocketOptions(fd).congestionControl);
  }

  TEST(SocketTuning, KeepsErrnoAndSurvivesWhatIsNoSocket)
  {
    DicomSockets settings = MakeStock();
    settings.tcpNoDelay = true;
    settings.receiveBuffer = SocketBuffer();
    errno = EDOM;
    EXPECT_EQ(EBADF, ApplySocketSettings(-1, settings).front());
    AcknowledgeNow(-1);
    EXPECT_FALSE(ReadSocketOptions(-1).noDelay.has_value());
    EXPECT_FALSE(ReadTcpInfo(-1).has_value());
    EXPECT_EQ(EDOM, errno);
  }

  TEST(SocketTuning, OverridesOnlyWhatItSets)
  {
    DicomSockets settings = MakeStock();
    EXPECT_FALSE(IsOverridden(settings, SOL_SOCKET, SO_RCVBUF));
    settings.receiveBuffer = SocketBuffer();
    EXPECT_TRUE(IsOverridden(settings, SOL_SOCKET, SO_RCVBUF));
    EXPECT_FALSE(IsOverridden(settings, SOL_SOCKET, SO_SNDBUF));
    EXPECT_FALSE(IsOverridden(settings, IPPROTO_TCP, TCP_NODELAY));
    settings.tcpNoDelay = true;
    EXPECT_TRUE(IsOverridden(settings, IPPROTO_TCP, TCP_NODELAY));
    EXPECT_FALSE(IsOverridden(settings, SOL_SOCKET, TCP_NODELAY));
  }

  TEST(TcpInfo, TellsTheRoundTripAndTheWindowsOfAConnection)
  {
    TcpPair pair;
    Transfer(pair.GetClient(), pair.GetServer(), 1000000);

    const TcpSummary sender = ReadTcpInfo(pair.GetClient()).value();
    EXPECT_LT(Duration::zero(), sender.roundTrip);
    EXPECT_LT(536u, sender.sendMss);
    EXPECT_LT(0u, sender.congestionWindow);
    EXPECT_LE(Duration::zero(), sender.busy.value());
    EXPECT_LT(0u, sender.sendWindow.value_or(1));
    EXPECT_LT(536u, ReadTcpInfo(pair.GetServer())->receiveMss);
  }

  TEST(TcpInfo, TellsTheSenderOfALostSegment)
  {
    TcpPair pair;
    const int server = pair.GetServer();
    EXPECT_EQ(0u, ReadTcpInfo(pair.GetClient())->retransmits);

    // Segments of more than 200 bytes are lost
    std::array<sock_filter, 4> program = {
        {BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0), BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 200, 0, 1),
         BPF_STMT(BPF_RET | BPF_K, 0), BPF_STMT(BPF_RET | BPF_K, 0xffffffff)}};
    const sock_fprog filter = {program.size(), program.data()};
    ASSERT_EQ(0, setsockopt(server, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)));
    SendAll(pair.GetClient(), std::string(1000, 'x'));
    ASSERT_EQ(0, setsockopt(server, SOL_SOCKET, SO_DETACH_FILTER, &filter, sizeof(filter)));
    ReceiveAll(server, 1000);
    EXPECT_LE(1u, ReadTcpInfo(pair.GetClient())->retransmits);
  }

  TEST(SettingsTrial, ABufferBeyondTheKernelsLimitIsReportedWithTheOneInForce)
  {
    std::uint32_t limit = 0;
    std::ifstream("/proc/sys/net/core/wmem_max") >> limit;
    ASSERT_GT(limit, 0U);

    if (limit >= (1U << 29U))
    {
      GTEST_SKIP() << "this machine has no limit to speak of";
    }

    DicomSockets settings = MakeStock();
    settings.sendBuffer = SocketBuffer::MakeFixed(limit + 1);
    const SettingsTrial trial = TrySocketSettings(settings);

    ASSERT_EQ(1U, trial.problems.size());
    EXPECT_EQ("SendBuffer: " + std::to_string(limit + 1) + " bytes are asked for, " +
                  std::to_string(limit) + " are in force: the kernel's limit is net.core.wmem_max",
              trial.problems.front());
  }

  TEST(SettingsTrial, AnUnknownCongestionControlIsReportedWithWhatThereIs)
  {
    DicomSockets settings = MakeStock();
    settings.congestionControl = "no_such_thing";
    const SettingsTrial trial = TrySocketSettings(settings);
    ASSERT_EQ(1U, trial.problems.size());
    EXPECT_EQ(0U, trial.problems.front().find("CongestionControl: the kernel refuses it"));
    EXPECT_NE("no_such_thing", trial.inForce.congestionControl);

    std::string available;
    std::getline(std::ifstream("/proc/sys/net/ipv4/tcp_available_congestion_control"), available);
    ASSERT_FALSE(available.empty());
    EXPECT_NE(std::string::npos, trial.problems.front().find("; it has " + available));
  }

  TEST(DcmtkEnvironment, ReadsNumbersAsDcmtkDoes)
  {
    EXPECT_FALSE(DcmtkEnvironment::Parse(nullptr, nullptr).noDelay);
    EXPECT_FALSE(DcmtkEnvironment::Parse(nullptr, nullptr).bufferLength);
    EXPECT_TRUE(DcmtkEnvironment::Parse("1", nullptr).noDelay);
    EXPECT_TRUE(DcmtkEnvironment::Parse(" 7x", nullptr).noDelay);
    EXPECT_FALSE(DcmtkEnvironment::Parse("0", nullptr).noDelay);
    EXPECT_FALSE(DcmtkEnvironment::Parse("on", nullptr).noDelay);
    EXPECT_EQ(129076U, DcmtkEnvironment::Parse(nullptr, "129076").bufferLength);
    EXPECT_EQ(65536U, DcmtkEnvironment::Parse(nullptr, "0").bufferLength);
    EXPECT_FALSE(DcmtkEnvironment::Parse(nullptr, "big").bufferLength);
  }
}
