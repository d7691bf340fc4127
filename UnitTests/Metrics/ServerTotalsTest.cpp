// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/ServerTotals.h"

#include "Metrics/Instances.h"
#include "Metrics/MetricTable.h"
#include "Metrics/MetricText.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    class ServerTotalsTest : public testing::Test
    {
    protected:
      std::string GetText() const
      {
        MetricFigures figures;
        figures.origins = metrics_.GetOrigins();
        return WriteMetrics(figures);
      }

      testing::AssertionResult HasLine(const std::string& line) const
      {
        return HasMetric(GetText(), "ingest_" + line);
      }

      ServerTotals metrics_;
    };
  }

  TEST_F(ServerTotalsTest, CountersBeginAtZeroAndPhasesAbsent)
  {
    EXPECT_TRUE(HasLine("instances_total{origin=\"WebDav\",outcome=\"failed\"} 0"));
    EXPECT_TRUE(HasLine("bytes_total{origin=\"Unknown\"} 0"));
    EXPECT_EQ(std::string::npos, GetText().find("phase_seconds"));
  }

  TEST_F(ServerTotalsTest, BytesCountWhateverTheOutcome)
  {
    FinishedInstance failed = MakeInstance("CT1");
    failed.outcome = Outcome::Failed;
    metrics_.OnInstanceFinished(MakeInstance("CT1"));
    metrics_.OnInstanceFinished(failed);
    EXPECT_TRUE(HasLine("instances_total{origin=\"DicomProtocol\",outcome=\"stored\"} 1"));
    EXPECT_TRUE(HasLine("instances_total{origin=\"DicomProtocol\",outcome=\"failed\"} 1"));
    EXPECT_TRUE(HasLine("bytes_total{origin=\"DicomProtocol\"} 2000"));
    EXPECT_EQ(2000U, metrics_.GetReceived().bytes);
  }

  TEST_F(ServerTotalsTest, OnlyObservedPhasesAppear)
  {
    metrics_.OnInstanceFinished(MakeInstance("CT1"));
    const std::string labels = "{origin=\"DicomProtocol\",phase=\"receive\"";
    EXPECT_TRUE(HasLine("phase_seconds_count" + labels + "} 1"));
    EXPECT_TRUE(HasLine("phase_seconds_sum" + labels + "} 0.04"));
    EXPECT_TRUE(HasLine("phase_seconds_bucket" + labels + ",le=\"0.035\"} 0"));
    EXPECT_TRUE(HasLine("phase_seconds_bucket" + labels + ",le=\"0.05\"} 1"));
    EXPECT_EQ(std::string::npos, GetText().find("phase=\"idle\""));
  }

  TEST_F(ServerTotalsTest, RoundTripsToTheDatabaseAreCountedWhereTheyWereSeen)
  {
    metrics_.OnInstanceFinished(MakeInstance("CT1"));
    EXPECT_EQ(std::string::npos, GetText().find("round_trips_total{"));
    FinishedInstance asked = MakeInstance("CT1");
    asked.database = DatabaseRecord{"10.0.0.9:5432", 12, 30, Duration::zero(), {}};
    metrics_.OnInstanceFinished(asked);
    EXPECT_TRUE(HasLine("database_queued_seconds_total{origin=\"DicomProtocol\"} 0"));
    asked.database->queued = std::chrono::milliseconds(250);
    metrics_.OnInstanceFinished(asked);
    EXPECT_TRUE(HasLine("database_round_trips_total{origin=\"DicomProtocol\"} 60"));
    EXPECT_TRUE(HasLine("database_queued_seconds_total{origin=\"DicomProtocol\"} 0.25"));
  }

  TEST_F(ServerTotalsTest, WhatOrthancSendsIsNotIngest)
  {
    FinishedInstance sent = MakeInstance("PACS");
    sent.direction = Direction::Send;
    metrics_.OnInstanceFinished(sent);
    EXPECT_TRUE(HasLine("instances_total{origin=\"DicomProtocol\",outcome=\"stored\"} 0"));
  }
}
