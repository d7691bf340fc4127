// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/SettingsTrial.h"

#include <fstream>
#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(SettingsTrial, WhatTheKernelTakesIsInForceWithoutAProblem)
  {
    SocketSettings settings;
    settings.noDelay = true;
    settings.receiveBuffer = BufferSetting::Fixed(65536);
    settings.keepAlive = std::chrono::seconds(33);

    const SettingsTrial trial = SettingsTrial::Run(settings);
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

    SocketSettings settings;
    settings.sendBuffer = BufferSetting::Fixed(limit + 1);
    const SettingsTrial trial = SettingsTrial::Run(settings);

    ASSERT_EQ(1U, trial.problems.size());
    EXPECT_EQ("SendBuffer: " + std::to_string(limit + 1) + " bytes are asked for, " +
                  std::to_string(limit) + " are in force: the kernel's limit is net.core.wmem_max",
              trial.problems.front());
  }


  TEST(SettingsTrial, AnUnknownCongestionControlIsReported)
  {
    SocketSettings settings;
    settings.congestionControl = "no_such_thing";
    const SettingsTrial trial = SettingsTrial::Run(settings);
    ASSERT_EQ(1U, trial.problems.size());
    EXPECT_EQ(0U, trial.problems.front().find("CongestionControl: the kernel refuses it"));
    EXPECT_NE("no_such_thing", trial.inForce.congestionControl);
  }
}
