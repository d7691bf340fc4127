// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Sockets/SocketTuning.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(DcmtkEnvironment, WithoutVariablesNagleIsOnAndBuffersAreTheSystems)
  {
    const DcmtkEnvironment environment = DcmtkEnvironment::Parse(nullptr, nullptr);
    EXPECT_FALSE(environment.noDelay);
    EXPECT_FALSE(environment.bufferLength);
  }

  TEST(DcmtkEnvironment, ReadsNumbersAsDcmtkDoes)
  {
    EXPECT_TRUE(DcmtkEnvironment::Parse("1", nullptr).noDelay);
    EXPECT_TRUE(DcmtkEnvironment::Parse(" 7x", nullptr).noDelay);
    EXPECT_FALSE(DcmtkEnvironment::Parse("0", nullptr).noDelay);
    EXPECT_FALSE(DcmtkEnvironment::Parse("on", nullptr).noDelay);
    EXPECT_EQ(129076U, DcmtkEnvironment::Parse(nullptr, "129076").bufferLength);
    EXPECT_EQ(65536U, DcmtkEnvironment::Parse(nullptr, "0").bufferLength);
    EXPECT_FALSE(DcmtkEnvironment::Parse(nullptr, "big").bufferLength);
  }
}
