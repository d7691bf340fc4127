// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/ProcessorPressure.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    std::string MakeText(std::uint64_t total)
    {
      return "some avg10=0.58 avg60=7.87 avg300=25.02 total=" + std::to_string(total) +
             "\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
    }
  }


  TEST(ProcessorPressure, ReadsTheTimeInWhichSomeProgramWaited)
  {
    EXPECT_EQ(7959975940U, ParseStalledTime(MakeText(7959975940)));
    EXPECT_EQ(12U, ParseStalledTime("some avg10=0.00 avg60=0.00 avg300=0.00 total=12"));
    EXPECT_FALSE(ParseStalledTime(""));
    EXPECT_FALSE(ParseStalledTime("full avg10=0.00 avg60=0.00 avg300=0.00 total=12\n"));
    EXPECT_FALSE(ParseStalledTime("some avg10=0.00\n"));
    EXPECT_FALSE(ParseStalledTime("some total=many\n"));
  }


  TEST(ProcessorPressure, IsTheShareOfTheTimeSinceTheLastCall)
  {
    std::string text = MakeText(1'000'000);
    ProcessorPressure pressure([&text] { return text; });
    TimePoint now(std::chrono::hours(1));
    EXPECT_FALSE(pressure.Measure(now));

    text = MakeText(1'400'000);
    now += std::chrono::milliseconds(500);
    EXPECT_NEAR(0.8, pressure.Measure(now).value_or(0), 1e-9);

    now += std::chrono::milliseconds(500);
    EXPECT_EQ(0, pressure.Measure(now));

    text = MakeText(2'500'000);  // the clocks differ a little
    now += std::chrono::seconds(1);
    EXPECT_EQ(1, pressure.Measure(now));
  }


  TEST(ProcessorPressure, IsNotKnownWhereTheKernelDoesNotTell)
  {
    ProcessorPressure pressure([] { return std::string(); });
    EXPECT_FALSE(pressure.Measure(TimePoint(std::chrono::seconds(1))));
    EXPECT_FALSE(pressure.Measure(TimePoint(std::chrono::seconds(2))));
  }
}
