// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningChanges.h"

#include "Tuning/JsonValues.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    using WallTime = std::chrono::system_clock::time_point;

    class TuningChangesTest : public testing::Test
    {
    protected:
      std::vector<TuningChange> GetAll() const
      {
        return changes_.GetSince(WallTime());
      }

      WallTime now_ = WallTime(std::chrono::seconds(1'800'000'000));
      TuningChanges changes_{[this]
                             {
                               return now_;
                             }};
      Tuning tuning_;
    };
  }


  TEST_F(TuningChangesTest, WhatThePluginBeginsWithIsNoChange)
  {
    changes_.OnTuningChanged(tuning_);
    EXPECT_TRUE(GetAll().empty());
  }


  TEST_F(TuningChangesTest, AChangeIsTheKeysThatAreDifferentNow)
  {
    changes_.OnTuningChanged(tuning_);
    tuning_.dicomSockets.tcpNoDelay = false;
    changes_.OnTuningChanged(tuning_);

    ASSERT_EQ(1U, GetAll().size());
    EXPECT_EQ(now_, GetAll()[0].time);
    EXPECT_EQ(Parse(R"({"DicomSockets": {"Preset": "custom", "TcpNoDelay": false}})"),
              GetAll()[0].change);
  }


  TEST_F(TuningChangesTest, AChangeCanBeTakenBackByAPatch)
  {
    changes_.OnTuningChanged(tuning_);
    tuning_.dicomSockets.tcpNoDelay = false;
    tuning_.ingestTranscoding.verify = !tuning_.ingestTranscoding.verify;
    changes_.OnTuningChanged(tuning_);

    ASSERT_EQ(1U, GetAll().size());
    const Json::Value undo = GetAll()[0].undo;
    EXPECT_EQ(Parse(R"({"TcpNoDelay": true})"), undo["DicomSockets"]);
    EXPECT_EQ(!tuning_.ingestTranscoding.verify, undo["IngestTranscoding"]["Verify"].asBool());
  }


  TEST_F(TuningChangesTest, TheSameAgainIsNoChange)
  {
    changes_.OnTuningChanged(tuning_);
    changes_.OnTuningChanged(tuning_);
    EXPECT_TRUE(GetAll().empty());
  }


  TEST_F(TuningChangesTest, OnlyTheLatestAreKept)
  {
    for (std::size_t i = 0; i < TuningChanges::MAXIMUM_CHANGES + 50; i++)
    {
      tuning_.dicomSockets.tcpNoDelay = !tuning_.dicomSockets.tcpNoDelay;
      now_ += std::chrono::seconds(1);
      changes_.OnTuningChanged(tuning_);
    }

    ASSERT_EQ(TuningChanges::MAXIMUM_CHANGES, GetAll().size());
    EXPECT_EQ(now_, GetAll().back().time);
    EXPECT_EQ(1U, changes_.GetSince(now_).size());
  }
}
