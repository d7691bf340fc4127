// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/JsonValues.h"
#include "Tuning/TuningStore.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    using WallTime = std::chrono::system_clock::time_point;

    constexpr const char* DELAYED = R"({"DicomSockets": {"TcpNoDelay": false}})";

    class TuningChangesTest : public testing::Test
    {
    protected:
      std::vector<TuningChange> GetAll() const
      {
        return store_.GetChanges(WallTime());
      }

      WallTime now_ = WallTime(std::chrono::seconds(1'800'000'000));
      std::vector<std::string> log_;
      TuningStore store_{Tuning(),
                         std::nullopt,
                         {},
                         {},
                         [this](const std::string& line) { log_.push_back(line); },
                         [this]
                         {
                           return now_;
                         }};
      const TuningAuthor author_ = {"alice", "10.0.0.5"};
    };
  }

  TEST_F(TuningChangesTest, AChangeIsTheKeysThatAreDifferentNow)
  {
    store_.Merge(Parse(DELAYED), author_);

    ASSERT_EQ(1U, GetAll().size());
    EXPECT_EQ(now_, GetAll()[0].time);
    EXPECT_EQ(Parse(R"({"DicomSockets": {"Preset": "custom", "TcpNoDelay": false}})"),
              GetAll()[0].change);
  }

  TEST_F(TuningChangesTest, AChangeCanBeTakenBackByAPatch)
  {
    store_.Merge(Parse(R"({"DicomSockets": {"TcpNoDelay": false},
                           "IngestTranscoding": {"Verify": true}})"),
                 author_);

    ASSERT_EQ(1U, GetAll().size());
    const Json::Value undo = GetAll()[0].undo;
    EXPECT_EQ(Parse(R"({"TcpNoDelay": true})"), undo["DicomSockets"]);
    EXPECT_FALSE(undo["IngestTranscoding"]["Verify"].asBool());
    EXPECT_EQ(Tuning(), *store_.Merge(undo).tuning);
  }

  TEST_F(TuningChangesTest, TheSameAgainIsNoChange)
  {
    store_.Merge(Parse(R"({"DicomSockets": {"TcpNoDelay": true}})"), author_);
    EXPECT_TRUE(GetAll().empty());
    EXPECT_TRUE(log_.empty());
  }

  TEST_F(TuningChangesTest, TheLogSaysInOneLineWhoChangedWhat)
  {
    for (const TuningAuthor& author : {author_, TuningAuthor{"", "10.0.0.6"}, TuningAuthor{"", ""}})
    {
      store_.Merge(Parse(DELAYED), author);
      store_.Reset();
    }

    const std::string what = R"({"DicomSockets":{"Preset":"custom","TcpNoDelay":false}})";
    ASSERT_EQ(6U, log_.size());
    EXPECT_EQ("the tuning was changed by the user \"alice\" from 10.0.0.5: " + what, log_[0]);
    EXPECT_EQ("the tuning was changed by 10.0.0.6: " + what, log_[2]);
    EXPECT_EQ("the tuning was changed from inside Orthanc, by a script or another plugin: " + what,
              log_[4]);
  }

  TEST_F(TuningChangesTest, OnlyTheLatestAreKept)
  {
    for (std::size_t i = 0; i < TuningStore::MAXIMUM_CHANGES; i++)
    {
      now_ += std::chrono::seconds(1);
      store_.Merge(Parse(DELAYED), author_);
      store_.Reset();
    }

    ASSERT_EQ(TuningStore::MAXIMUM_CHANGES, GetAll().size());
    EXPECT_EQ(now_, GetAll().back().time);
    EXPECT_EQ(2U, store_.GetChanges(now_).size());
  }
}
