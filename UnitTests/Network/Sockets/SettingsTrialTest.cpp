// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Sockets/SocketTuning.h"

#include "Network/Sockets/StockSockets.h"

#include <fstream>
#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(SettingsTrial, WhatTheKernelTakesIsInForceWithoutAProblem)
  {
    DicomSockets settings = MakeStock();
    settings.tcpNoDelay = true;
    settings.receiveBuffer = SocketBuffer::MakeFixed(65536);
    settings.keepAlive = std::chrono::seconds(33);

    const SettingsTrial trial = TrySocketSettings(settings);
    EXPECT_TRUE(trial.problems.empty());
    EXPECT_EQ(true, trial.inForce.noDelay);
    EXPECT_EQ(131072U, trial.inForce.receiveBuffer);
    EXPECT_EQ(33U, trial.inForce.keepAlive);
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
}
