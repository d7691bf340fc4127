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
      std::vector<std::string> log_;
      TuningChanges changes_{[this](const std::string& line) { log_.push_back(line); },
                             [this]
                             {
                               return now_;
                             }};
      const Tuning before_{};
      Tuning after_;
      const TuningAuthor author_ = {"alice", "10.0.0.5"};
    };
  }


  TEST_F(TuningChangesTest, AChangeIsTheKeysThatAreDifferentNow)
  {
    after_.dicomSockets.tcpNoDelay = false;
    changes_.Note(before_, after_, author_);

    ASSERT_EQ(1U, GetAll().size());
    EXPECT_EQ(now_, GetAll()[0].time);
    EXPECT_EQ(Parse(R"({"DicomSockets": {"Preset": "custom", "TcpNoDelay": false}})"),
              GetAll()[0].change);
  }


  TEST_F(TuningChangesTest, AChangeCanBeTakenBackByAPatch)
  {
    after_.dicomSockets.tcpNoDelay = false;
    after_.ingestTranscoding.verify = !after_.ingestTranscoding.verify;
    changes_.Note(before_, after_, author_);

    ASSERT_EQ(1U, GetAll().size());
    const Json::Value undo = GetAll()[0].undo;
    EXPECT_EQ(Parse(R"({"TcpNoDelay": true})"), undo["DicomSockets"]);
    EXPECT_EQ(!after_.ingestTranscoding.verify, undo["IngestTranscoding"]["Verify"].asBool());
  }


  TEST_F(TuningChangesTest, TheSameAgainIsNoChange)
  {
    changes_.Note(before_, after_, author_);
    EXPECT_TRUE(GetAll().empty());
    EXPECT_TRUE(log_.empty());
  }


  TEST_F(TuningChangesTest, TheLogSaysInOneLineWhoChangedWhat)
  {
    after_.dicomSockets.tcpNoDelay = false;
    changes_.Note(before_, after_, author_);
    changes_.Note(before_, after_, {"", "10.0.0.6"});
    changes_.Note(before_, after_, {"", ""});

    const std::string what = R"({"DicomSockets":{"Preset":"custom","TcpNoDelay":false}})";
    ASSERT_EQ(3U, log_.size());
    EXPECT_EQ("the tuning was changed by the user \"alice\" from 10.0.0.5: " + what, log_[0]);
    EXPECT_EQ("the tuning was changed by 10.0.0.6: " + what, log_[1]);
    EXPECT_EQ("the tuning was changed from inside Orthanc, by a script or another plugin: " + what,
              log_[2]);
  }


  TEST_F(TuningChangesTest, OnlyTheLatestAreKept)
  {
    for (std::size_t i = 0; i < TuningChanges::MAXIMUM_CHANGES + 50; i++)
    {
      after_.dicomSockets.tcpNoDelay = false;
      now_ += std::chrono::seconds(1);
      changes_.Note(before_, after_, author_);
    }

    ASSERT_EQ(TuningChanges::MAXIMUM_CHANGES, GetAll().size());
    EXPECT_EQ(now_, GetAll().back().time);
    EXPECT_EQ(1U, changes_.GetSince(now_).size());
  }
}
