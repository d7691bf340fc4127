// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/JobWatch.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>

namespace OrthancPerf
{
  namespace
  {
    const JobWatch::Types MERGE = {"MergeStudy"};


    class JobWatchTest : public testing::Test
    {
    protected:
      // Answers once, on a thread of its own, while this one asks
      std::optional<JobWatch::Types> GetAnswer(const JobWatch::Ask& ask)
      {
        std::thread asking(
            [&]
            {
              try
              {
                watch_.AnswerNext(ask, std::chrono::hours(1));
              }
              catch (const std::runtime_error&)
              {
                hasFailed_ = true;
              }
            });
        const std::optional<JobWatch::Types> types = watch_.GetTypes(std::chrono::hours(1));
        asking.join();
        return types;
      }

      JobWatch watch_;
      bool hasFailed_ = false;
    };
  }


  TEST_F(JobWatchTest, SaysWhatOrthancSays)
  {
    EXPECT_EQ(MERGE, GetAnswer([] { return MERGE; }));
    EXPECT_EQ(JobWatch::Types(), GetAnswer([] { return JobWatch::Types(); }));
  }


  TEST_F(JobWatchTest, WhereOrthancCannotSayNobodyKnows)
  {
    GetAnswer([] { return MERGE; });
    EXPECT_EQ(std::nullopt,
              GetAnswer([]() -> JobWatch::Types { throw std::runtime_error("no database"); }));
    EXPECT_TRUE(hasFailed_);
  }


  TEST_F(JobWatchTest, NobodyWaitsForOrthancForEver)
  {
    EXPECT_EQ(std::nullopt, watch_.GetTypes(std::chrono::milliseconds(1)));
  }


  // Who wants to know while Orthanc is asked has to learn of a job that was begun meanwhile
  TEST_F(JobWatchTest, AnAnswerIsOfAfterTheQuestion)
  {
    int asked = 0;
    std::optional<JobWatch::Types> later;
    std::thread late;
    const JobWatch::Ask ask = [&]() -> JobWatch::Types
    {
      if (asked++ != 0)
      {
        return MERGE;
      }

      late = std::thread([&] { later = watch_.GetTypes(std::chrono::hours(1)); });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it most likely waits by then
      return {};
    };
    EXPECT_EQ(JobWatch::Types(), GetAnswer(ask));
    watch_.AnswerNext(ask, std::chrono::hours(1));
    late.join();
    EXPECT_EQ(MERGE, later);
  }
}
