// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/EngineFailures.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    TranscodingReport MakeFailure(const std::string& reason)
    {
      TranscodingReport report;
      report.outcome = TranscodingOutcome::Failed;
      report.engine = "gdcm";
      report.target = "1.2.840.10008.1.2.4.80";
      report.reason = reason;
      return report;
    }

    class EngineFailuresTest : public testing::Test
    {
    protected:
      std::vector<std::string> lines_;
      EngineFailures failures_{[this](const std::string& line)
                               {
                                 lines_.push_back(line);
                               }};
    };
  }

  TEST_F(EngineFailuresTest, AKindIsLoggedOnceAndCountedEachTime)
  {
    failures_.OnTranscoding(MakeFailure("frame 3 of 30 is cut"));
    failures_.OnTranscoding(MakeFailure("frame 17 of 30 is cut"));
    failures_.OnTranscoding(MakeFailure("the program crashed"));

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
    TranscodingReport declined = MakeFailure("12 bits");
    declined.outcome = TranscodingOutcome::Declined;
    failures_.OnTranscoding(declined);  // another engine may cover it
    EXPECT_TRUE(lines_.empty());

    failures_.OnEnd(declined);
    failures_.OnEnd(declined);
    declined.engine.clear();
    declined.reason = "no engine writes this transfer syntax";
    failures_.OnTranscoding(declined);
    failures_.OnEnd(declined);
    ASSERT_EQ(2U, lines_.size());
    EXPECT_EQ("an instance cannot be transcoded to JPEGLSLossless by the engine \"gdcm\": 12 bits",
              lines_[0]);
    EXPECT_EQ("an instance cannot be transcoded to JPEGLSLossless: no engine writes this transfer "
              "syntax",
              lines_[1]);

    const std::vector<EngineFailure> failures = failures_.Get();
    ASSERT_EQ(2U, failures.size());
    EXPECT_EQ(1U, failures[0].count);
    EXPECT_EQ("", failures[0].engine);
    EXPECT_EQ(2U, failures[1].count);
    EXPECT_EQ("gdcm", failures[1].engine);
  }

  TEST_F(EngineFailuresTest, EnginesInTurnAreNamedOnceAndWhatFailedOrIsLargerIsNotCountedTwice)
  {
    TranscodingReport larger = MakeFailure("larger than what came");
    larger.outcome = TranscodingOutcome::Declined;
    larger.isLarger = true;
    failures_.OnTranscoding(larger);
    failures_.OnEnd(larger);
    EXPECT_TRUE(failures_.Get().empty());
    EXPECT_TRUE(lines_.empty());

    failures_.OnTranscoding(MakeFailure("cut"));
    failures_.OnEnd(MakeFailure("dcmtk: 12 bits; gdcm: cut"));
    ASSERT_EQ(1U, failures_.Get().size());
    EXPECT_EQ(1U, failures_.Get()[0].count);

    TranscodingReport declined = MakeFailure("dcmtk: 12 bits; gdcm: 16 bits");
    declined.outcome = TranscodingOutcome::Declined;
    failures_.OnEnd(declined);
    ASSERT_EQ(2U, lines_.size());
    EXPECT_EQ("an instance cannot be transcoded to JPEGLSLossless: dcmtk: 12 bits; gdcm: 16 bits",
              lines_[1]);
  }

  TEST_F(EngineFailuresTest, AStrangerCannotFillTheMemory)
  {
    for (std::size_t i = 0; i < 10 * EngineFailures::MAXIMUM_KINDS; i++)
    {
      failures_.OnTranscoding(MakeFailure(std::string(i, 'x')));
    }

    EXPECT_LE(failures_.Get().size(), EngineFailures::MAXIMUM_KINDS);
    EXPECT_EQ(failures_.Get().size(), lines_.size());
  }
}
