// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/EngineComparison.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    EngineMeasurement MakeMeasurement(PixelComparison::Verdict pixels)
    {
      EngineMeasurement measurement;
      measurement.report.outcome = TranscodingOutcome::Transcoded;
      measurement.report.sourceSize = 1000;
      measurement.report.targetSize = 400;
      measurement.report.duration = std::chrono::milliseconds(10);
      measurement.decoder = "dcmtk";
      measurement.decoding = std::chrono::milliseconds(4);
      measurement.pixels = pixels;
      return measurement;
    }


    EngineMeasurement MakeRefusal(TranscodingOutcome outcome, const std::string& reason)
    {
      EngineMeasurement measurement;
      measurement.report.outcome = outcome;
      measurement.report.reason = reason;
      measurement.report.duration = std::chrono::milliseconds(100);
      return measurement;
    }
  }


  TEST(EngineTotals, AddsUpWhatWasTranscoded)
  {
    EngineTotals totals;
    totals.Add(MakeMeasurement(PixelComparison::Verdict::Same), 1100);
    totals.Add(MakeMeasurement(PixelComparison::Verdict::Different), 900);

    EXPECT_EQ(2U, totals.transcoded);
    EXPECT_EQ(2000U, totals.storedSize);
    EXPECT_EQ(2000U, totals.uncompressedSize);
    EXPECT_EQ(800U, totals.targetSize);
    EXPECT_EQ(Duration(std::chrono::milliseconds(20)), totals.encoding);
    EXPECT_EQ(Duration(std::chrono::milliseconds(8)), totals.decoding);
    EXPECT_EQ(1U, totals.same);
    EXPECT_EQ(1U, totals.different);
  }


  TEST(EngineTotals, TimeSpentInVainIsNotTimeOfEncoding)
  {
    EngineTotals totals;
    totals.Add(MakeRefusal(TranscodingOutcome::Declined, "palette colour"), 1000);
    totals.Add(MakeRefusal(TranscodingOutcome::Failed, "the worker crashed"), 1000);

    EXPECT_EQ(0U, totals.transcoded);
    EXPECT_EQ(1U, totals.declined);
    EXPECT_EQ(1U, totals.failed);
    EXPECT_EQ(0U, totals.storedSize);
    EXPECT_EQ(Duration(0), totals.encoding);
    EXPECT_EQ(1U, totals.reasons["palette colour"]);
    EXPECT_EQ(1U, totals.reasons["the worker crashed"]);
  }


  TEST(EngineTotals, WhatWasNotDecodedCountsForEncodingOnly)
  {
    EngineMeasurement measurement = MakeMeasurement(PixelComparison::Verdict::Incomparable);
    measurement.decoder.clear();
    measurement.report.reason = "no engine decodes the result";

    EngineTotals totals;
    totals.Add(measurement, 1000);
    EXPECT_EQ(1U, totals.transcoded);
    EXPECT_EQ(0U, totals.decodedSize);
    EXPECT_TRUE(totals.decoders.empty());
    EXPECT_EQ(0U, totals.same + totals.different);
  }


  TEST(EngineTotals, ReasonsAreBoundedWhateverCodecsSay)
  {
    EngineTotals totals;
    for (int i = 0; i < 1000; i++)
    {
      totals.Add(MakeRefusal(TranscodingOutcome::Failed, "reason " + std::to_string(i)), 1);
    }

    EXPECT_EQ(EngineTotals::MAXIMUM_REASONS + 1, totals.reasons.size());
    EXPECT_EQ(1000 - EngineTotals::MAXIMUM_REASONS, totals.reasons["other reasons"]);
  }
}
