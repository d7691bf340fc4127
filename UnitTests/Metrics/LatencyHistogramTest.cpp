// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/LatencyHistogram.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  using std::chrono::microseconds;
  using std::chrono::milliseconds;

  TEST(LatencyHistogram, IsZeroWithoutAnyDuration)
  {
    const LatencyHistogram histogram;
    EXPECT_EQ(0U, histogram.GetCount());
    EXPECT_EQ(Duration::zero(), histogram.GetMean());
    EXPECT_EQ(Duration::zero(), histogram.GetQuantile(0.5));
  }

  TEST(LatencyHistogram, CountMeanAndMaximumAreExact)
  {
    LatencyHistogram histogram;
    histogram.Add(microseconds(1));
    histogram.Add(milliseconds(3));
    EXPECT_EQ(2U, histogram.GetCount());
    EXPECT_EQ(Duration(1500500), histogram.GetMean());
    EXPECT_EQ(Duration(milliseconds(3)), histogram.GetMaximum());
  }

  TEST(LatencyHistogram, QuantilesAreWithinASixteenth)
  {
    for (Duration duration = microseconds(1); duration < std::chrono::seconds(119);
         duration += duration / 50)
    {
      LatencyHistogram histogram;
      histogram.Add(duration);
      histogram.Add(std::chrono::minutes(2));
      histogram.Add(std::chrono::minutes(3));
      const double error = ToSeconds(histogram.GetQuantile(0.3)) / ToSeconds(duration) - 1;
      EXPECT_LE(std::abs(error), 1.0 / 16) << duration.count() << " ns";
    }
  }

  TEST(LatencyHistogram, QuantilesDivideTheDurationsByTheirShare)
  {
    LatencyHistogram histogram;

    for (int i = 1; i <= 100; i++)
    {
      histogram.Add(milliseconds(i));
    }

    EXPECT_NEAR(0.050, ToSeconds(histogram.GetQuantile(0.5)), 0.050 / 16);
    EXPECT_NEAR(0.090, ToSeconds(histogram.GetQuantile(0.9)), 0.090 / 16);
    EXPECT_NEAR(0.099, ToSeconds(histogram.GetQuantile(0.99)), 0.099 / 16);
    EXPECT_EQ(Duration(milliseconds(100)), histogram.GetQuantile(1));
  }

  TEST(LatencyHistogram, ExtremesAreKeptInBounds)
  {
    LatencyHistogram histogram;
    histogram.Add(Duration(-5));
    EXPECT_EQ(Duration::zero(), histogram.GetQuantile(1));
    histogram.Add(Duration::max() / 4);
    EXPECT_EQ(Duration::max() / 4, histogram.GetQuantile(1));
  }

  TEST(LatencyHistogram, TwoTogetherAreAsOne)
  {
    LatencyHistogram one;
    LatencyHistogram two;
    one.Add(milliseconds(1));
    two.Add(milliseconds(9));
    one.Add(two);
    EXPECT_EQ(2U, one.GetCount());
    EXPECT_EQ(Duration(milliseconds(10)), one.GetSum());
    EXPECT_EQ(Duration(milliseconds(9)), one.GetMaximum());
    EXPECT_NEAR(0.001, ToSeconds(one.GetQuantile(0.5)), 0.001 / 16);
  }
}
