// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/EngineFailures.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    TranscodingReport MakeReport(const std::string& reason,
                                 TranscodingOutcome outcome = TranscodingOutcome::Failed)
    {
      TranscodingReport report;
      report.outcome = outcome;
      report.engine = "gdcm";
      report.target = "1.2.840.10008.1.2.4.80";
      report.reason = reason;
      return report;
    }

    constexpr TranscodingOutcome DECLINED = TranscodingOutcome::Declined;
    using Lines = std::vector<std::string>;

    class EngineFailuresTest : public testing::Test
    {
    protected:
      Lines lines_;
      EngineFailures failures_{[this](const std::string& line)
                               {
                                 lines_.push_back(line);
                               }};
    };
  }

  TEST_F(EngineFailuresTest, AKindIsLoggedOnceAndCountedEachTime)
  {
    failures_.OnTranscoding(MakeReport("frame 3 of 30 is cut"));
    failures_.OnTranscoding(MakeReport("frame 17 of 30 is cut"));
    failures_.OnTranscoding(MakeReport("the program crashed"));

    ASSERT_EQ(2U, lines_.size());
    EXPECT_EQ("the engine \"gdcm\" failed to transcode an instance to JPEGLSLossless: frame 3 of "
              "30 is cut",
              lines_[0]);

    const std::vector<EngineFailure> failures = failures_.Get();
    ASSERT_EQ(2U, failures.size());
    EXPECT_EQ("frame 3 of 30 is cut", failures[0].reason);
    EXPECT_EQ(2U, failures[0].count);
    EXPECT_EQ(1U, failures[1].count);
  }

  TEST_F(EngineFailuresTest, WhatNoEngineCoversIsReportedOnceAnInstance)
  {
    TranscodingReport declined = MakeReport("12 bits", DECLINED);
    failures_.OnTranscoding(declined);  // another engine may cover it
    EXPECT_TRUE(lines_.empty());
    failures_.OnEnd(declined);
    failures_.OnEnd(declined);
    declined.engine.clear();
    declined.reason = "no engine writes this transfer syntax";
    failures_.OnTranscoding(declined);
    failures_.OnEnd(declined);
    failures_.OnEnd(MakeReport("dcmtk: 12 bits; gdcm: 16 bits", DECLINED));  // in turn
    EXPECT_EQ(
        (Lines{"an instance cannot be transcoded to JPEGLSLossless by the engine \"gdcm\": 12 "
               "bits",
               "an instance cannot be transcoded to JPEGLSLossless: no engine writes this "
               "transfer syntax",
               "an instance cannot be transcoded to JPEGLSLossless: dcmtk: 12 bits; gdcm: 16 "
               "bits"}),
        lines_);
    EXPECT_EQ(1U, failures_.Get()[0].count);
    EXPECT_EQ("", failures_.Get()[0].engine);
    EXPECT_EQ(2U, failures_.Get()[1].count);
    EXPECT_EQ("gdcm", failures_.Get()[1].engine);
  }

  TEST_F(EngineFailuresTest, WhatFailedOrIsLargerIsNotCountedTwice)
  {
    TranscodingReport larger = MakeReport("larger than what came", DECLINED);
    larger.isLarger = true;
    failures_.OnTranscoding(larger);
    failures_.OnEnd(larger);
    EXPECT_TRUE(failures_.Get().empty());
    EXPECT_TRUE(lines_.empty());

    failures_.OnTranscoding(MakeReport("cut"));
    failures_.OnEnd(MakeReport("dcmtk: 12 bits; gdcm: cut"));
    ASSERT_EQ(1U, failures_.Get().size());
    EXPECT_EQ(1U, failures_.Get()[0].count);
  }

  TEST_F(EngineFailuresTest, AStrangerCannotFillTheMemory)
  {
    for (std::size_t i = 0; i < 10 * EngineFailures::MAXIMUM_KINDS; i++)
    {
      failures_.OnTranscoding(MakeReport(std::string(i, 'x')));
    }

    EXPECT_LE(failures_.Get().size(), EngineFailures::MAXIMUM_KINDS);
    EXPECT_EQ(failures_.Get().size(), lines_.size());
  }
}
