// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/TranscodingMetrics.h"

#include "Metrics/MetricTable.h"
#include "Metrics/MetricText.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    TranscodingReport MakeReport(TranscodingOutcome outcome)
    {
      TranscodingReport report;
      report.outcome = outcome;
      report.engine = "native";
      report.target = "1.2.840.10008.1.2.4.70";
      report.duration = std::chrono::milliseconds(20);
      report.sourceSize = 1000;
      return report;
    }

    class TranscodingMetricsTest : public testing::Test
    {
    protected:
      std::string GetText() const
      {
        MetricFigures figures;
        figures.transcodings = metrics_.GetTotals();
        return "\n" + WriteMetrics(figures);
      }

      testing::AssertionResult HasLine(const std::string& line) const
      {
        return HasMetric(GetText(), line);
      }

      TranscodingMetrics metrics_;
    };
  }

  TEST_F(TranscodingMetricsTest, WhatFailedIsCountedOnlyAndUnknownNamesShareALine)
  {
    EXPECT_EQ("\n", GetText());
    metrics_.OnTranscoding(MakeReport(TranscodingOutcome::Failed));
    EXPECT_TRUE(HasLine(
        R"(transcode_total{engine="native",outcome="failed",target="JPEGProcess14SV1"} 1)"));
    TranscodingReport report = MakeReport(TranscodingOutcome::Declined);
    report.engine = "";
    report.target = "1.2.3";
    metrics_.OnTranscoding(report);
    report.engine = "of another";
    report.target = "1.2.4";
    metrics_.OnTranscoding(report);
    EXPECT_TRUE(HasLine(R"(transcode_total{engine="none",outcome="declined",target="other"} 2)"));
    EXPECT_EQ(std::string::npos, GetText().find("transcode_seconds"));
    EXPECT_EQ(std::string::npos, GetText().find("transcode_bytes"));
  }

  // An alert on the rise of a counter sees nothing of one that begins with the first failures
  TEST_F(TranscodingMetricsTest, FailuresOfWhatIsAskedForBeginAtZero)
  {
    IngestTranscoding settings;
    metrics_.Expect(settings);
    EXPECT_EQ("\n", GetText());

    settings.transferSyntax = "1.2.840.10008.1.2.4.70";
    settings.engine = EngineChoice::Gdcm;
    metrics_.Expect(settings);
    EXPECT_TRUE(
        HasLine(R"(transcode_total{engine="gdcm",outcome="failed",target="JPEGProcess14SV1"} 0)"));
    EXPECT_EQ(std::string::npos, GetText().find("dcmtk"));

    settings.engine = EngineChoice::Automatic;
    metrics_.Expect(settings);

    for (const std::string engine : {"dcmtk", "gdcm", "native"})
    {
      EXPECT_TRUE(HasLine("transcode_total{engine=\"" + engine +
                          R"(",outcome="failed",target="JPEGProcess14SV1"} 0)"));
    }

    EXPECT_EQ(std::string::npos, GetText().find("none"));
  }

  TEST_F(TranscodingMetricsTest, WhatSucceededHasTimeAndBytesOfBothSides)
  {
    TranscodingReport report = MakeReport(TranscodingOutcome::Transcoded);
    report.targetSize = 400;
    metrics_.OnTranscoding(report);
    metrics_.OnTranscoding(report);

    EXPECT_TRUE(HasLine(
        R"(transcode_total{engine="native",outcome="transcoded",target="JPEGProcess14SV1"} 2)"));
    EXPECT_TRUE(HasLine(
        R"(transcode_bytes_total{engine="native",side="source",target="JPEGProcess14SV1"} 2000)"));
    EXPECT_TRUE(HasLine(
        R"(transcode_bytes_total{engine="native",side="target",target="JPEGProcess14SV1"} 800)"));
    EXPECT_TRUE(
        HasLine(R"(transcode_seconds_sum{engine="native",target="JPEGProcess14SV1"} 0.04)"));
  }
}
