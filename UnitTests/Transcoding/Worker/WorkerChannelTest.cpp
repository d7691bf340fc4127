// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Worker/WorkerChannel.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(WorkerChannel, AWorkerIsOfThePluginsBuild)
  {
    WorkerHello hello;
    EXPECT_FALSE(IsOfThisBuild(hello));
    SetText(hello.version, "0.0.1");
    EXPECT_FALSE(IsOfThisBuild(hello));
    SetText(hello.version, PERF_VERSION);
    EXPECT_TRUE(IsOfThisBuild(hello));
  }

  TEST(WorkerChannel, AnAnswerIsOfAKnownKindAndWithinTheLimits)
  {
    WorkerLimits limits;
    limits.result = 100;
    WorkerResponse response;
    response.resultSize = 100;
    response.outcome = static_cast<std::uint32_t>(TranscodingOutcome::Failed);
    EXPECT_TRUE(IsPlausible(response, limits));
    response.resultSize++;
    EXPECT_FALSE(IsPlausible(response, limits));
    EXPECT_TRUE(IsPlausible(response, {}));
    response.outcome++;
    EXPECT_FALSE(IsPlausible(response, {}));
  }

  TEST(WorkerChannel, ATextEndsWithItsField)
  {
    WorkerText field;
    field.fill('x');
    EXPECT_EQ(std::string(field.size(), 'x'), GetText(field));

    SetText(field, std::string(1000, 'y'));
    EXPECT_EQ(std::string(WORKER_TEXT_LENGTH, 'y'), GetText(field));
  }
}
