// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Sockets/SocketTuning.h"

#include "Network/Sockets/StockSockets.h"
#include "Network/Sockets/TcpInfo.h"
#include "Network/TcpPair.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/tcp.h>
#include <thread>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::seconds;

    std::uint32_t ReadLimit(const std::string& name)
    {
      std::ifstream file("/proc/sys/net/core/" + name);
      std::uint32_t limit = 0;
      file >> limit;
      return limit;
    }

    // What "ss" says of the connections of a local port
    std::string RunSs(std::uint16_t port)
    {
      const std::string command = "ss -Htmino 'sport = :" + std::to_string(port) + "' 2>/dev/null";
      const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
      std::string output;
      std::array<char, 4096> buffer = {};

      while (pipe != nullptr && fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr)
      {
        output += buffer.data();
      }

      return output;
    }

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

    const std::string ss = RunSs(pair.GetPort());

    if (!ss.empty())
    {
      EXPECT_NE(std::string::npos, ss.find("rb200000")) << ss;
      EXPECT_NE(std::string::npos, ss.find("tb100000")) << ss;
      EXPECT_NE(std::string::npos, ss.find("reno")) << ss;
      EXPECT_NE(std::string::npos, ss.find("keepalive,")) << ss;
    }
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

  TEST(SocketTuning, ShowsWhatTheKernelCaps)
  {
    TcpPair pair;
    const int fd = pair.GetServer();
    DicomSockets settings = MakeStock();
    settings.keepAlive = seconds(10);
    settings.receiveBuffer = SocketBuffer::MakeFixed(1U << 30U);
    settings.sendBuffer = SocketBuffer::MakeFixed(1U << 30U);
    EXPECT_EQ(SocketErrors(), ApplySocketSettings(fd, settings));
    EXPECT_EQ(2 * ReadLimit("rmem_max"), ReadSocketOptions(fd).receiveBuffer.value());
    EXPECT_EQ(2 * ReadLimit("wmem_max"), ReadSocketOptions(fd).sendBuffer.value());
    settings.keepAlive = seconds(0);
    ApplySocketSettings(fd, settings);
    EXPECT_EQ(0u, ReadSocketOptions(fd).keepAlive.value());
  }

  TEST(SocketTuning, IsInheritedFromTheListeningSocket)
  {
    TcpPair pair;  // the client is connected already, and accepted later
    DicomSockets settings = MakeStock();
    settings.tcpNoDelay = true;
    settings.keepAlive = seconds(12);
    ApplySocketSettings(pair.GetListening(), settings);
    const ConnectedSocket client(pair.GetPort());
    pair.GetServer();
    const int accepted = accept(pair.GetListening(), nullptr, nullptr);
    ASSERT_LE(0, accepted);

    EXPECT_TRUE(ReadSocketOptions(accepted).noDelay.value());
    EXPECT_EQ(12u, ReadSocketOptions(accepted).keepAlive.value());
    close(accepted);
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
    SetNoDelay(pair.GetClient());
    EXPECT_EQ(0u, ReadTcpInfo(pair.GetClient())->retransmits);

    {
      const LossOfLongSegments loss(server);
      SendAll(pair.GetClient(), std::string(1000, 'x'));
      SendAll(pair.GetClient(), "y");
    }

    ReceiveAll(server, 1001);
    EXPECT_LE(1u, ReadTcpInfo(pair.GetClient())->retransmits);
  }
}
