// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/MetricTable.h"

#include "Metrics/MetricText.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::array BOUNDS = {0.5, 1.0};

    testing::AssertionResult HasLine(const MetricFigures& figures, const std::string& line)
    {
      return HasMetric(WriteMetrics(figures), line);
    }
  }

  TEST(MetricWriter, WholeNumbersAreExactUpTo2To53)
  {
    MetricWriter writer;
    writer.Begin("a_total", MetricType::Counter, "A.");
    writer.Add({}, 9007199254740991.0);
    EXPECT_NE(std::string::npos, writer.GetText().find("\na_total 9007199254740991\n"));
  }

  TEST(MetricWriter, BucketsOfAHistogramAreCumulativeUpToInfinity)
  {
    BucketHistogram<BOUNDS> histogram;
    histogram.Add(0.5);
    histogram.Add(2.25);
    histogram.Add(-1);
    MetricWriter writer;
    writer.Begin("a_seconds", MetricType::Histogram, "A.");
    writer.Add({{"x", "y"}}, histogram);
    EXPECT_EQ("# HELP a_seconds A.\n"
              "# TYPE a_seconds histogram\n"
              "a_seconds_bucket{x=\"y\",le=\"0.5\"} 2\n"
              "a_seconds_bucket{x=\"y\",le=\"1\"} 2\n"
              "a_seconds_bucket{x=\"y\",le=\"+Inf\"} 3\n"
              "a_seconds_sum{x=\"y\"} 2.75\n"
              "a_seconds_count{x=\"y\"} 3\n",
              writer.GetText());
  }

  TEST(MetricTable, SaysNothingOfWhatIsNotThere)
  {
    EXPECT_EQ("", WriteMetrics({}));
  }

  TEST(MetricTable, HasTheBudget)
  {
    MetricFigures figures;
    AdmissionFigures& budget = figures.budget.emplace();
    budget.limit = 1000;
    budget.held = 600;
    budget.inFlight = 6;
    budget.waiting = 2;
    budget.waits = 5;
    budget.waited = std::chrono::milliseconds(1500);
    budget.givenUp = 3;

    for (const std::string line : {"bytes 1000", "held_bytes 600", "in_flight 6", "waiting 2",
                                   "waits_total 5", "waited_seconds_total 1.5", "given_up_total 3"})
    {
      EXPECT_TRUE(HasLine(figures, "ingest_budget_" + line));
    }
  }

  TEST(MetricTable, HasThePluginItsTuningAndFindings)
  {
    MetricFigures figures;
    figures.version = "1.2.3";
    figures.orthancVersion = "1.12.7";
    figures.startTime = 1764000000;
    figures.inFlight = {0, 3};
    figures.droppedEvents = 4;
    figures.tuning = {{"Memory.IngestWaitSeconds", 20}};
    figures.findings = {{"delayed-ack", 2}};
    EXPECT_TRUE(HasLine(figures, R"(build_info{orthanc="1.12.7",version="1.2.3"} 1)"));
    EXPECT_TRUE(HasLine(figures, "start_time_seconds 1764000000"));
    EXPECT_TRUE(HasLine(figures, R"(ingest_in_flight{origin="DicomProtocol"} 3)"));
    EXPECT_TRUE(HasLine(figures, "dropped_events_total 4"));
    EXPECT_TRUE(HasLine(figures, R"(tuning{setting="Memory.IngestWaitSeconds"} 20)"));
    EXPECT_TRUE(HasLine(figures, R"(findings{id="delayed-ack"} 2)"));
  }

  TEST(MetricTable, EachNameIsThereOnceAndCountersEndInTotal)
  {
    std::set<std::string> names;

    for (const MetricRow& row : GetMetricTable())
    {
      const std::size_t end = row.name.rfind("_total");
      const bool isTotal = end != std::string::npos && end + 6 == row.name.size();
      EXPECT_EQ(row.type == MetricType::Counter, isTotal) << row.name;
      EXPECT_TRUE(names.insert(row.name).second) << row.name;
    }
  }
}
