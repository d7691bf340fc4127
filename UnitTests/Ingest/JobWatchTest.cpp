// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/JobWatch.h"
#include "Ingest/BackgroundThread.h"

#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <thread>

namespace OrthancPerf
{
  namespace
  {
    const JobWatch::Types MERGE = {"MergeStudy"};
    constexpr std::chrono::hours LONG(1);


    class JobWatchTest : public testing::Test
    {
    protected:
      std::optional<JobWatch::Types> GetAnswer(const JobWatch::Ask& ask)
      {
        ask_ = ask;
        std::optional<JobWatch::Types> types = watch_.GetTypes(LONG);
        std::promise<void> done;
        thread_.Post([&done] { done.set_value(); });
        done.get_future().wait();
        return types;
      }

      JobWatch::Ask ask_;
      bool hasFailed_ = false;
      JobWatch watch_{[this] { return ask_(); },
                      [this](const std::function<void()>& work)
                      {
                        thread_.Post(
                            [this, work]
                            {
                              try
                              {
                                work();
                              }
                              catch (const std::runtime_error&)
                              {
                                hasFailed_ = true;
                              }
                            });
                      }};
      BackgroundThread thread_;
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
    // Shared: a busy machine may begin to ask only when the test is over
    const auto end = std::make_shared<std::promise<void>>();
    ask_ = [end]
    {
      end->get_future().wait();
      return MERGE;
    };
    EXPECT_EQ(std::nullopt, watch_.GetTypes(std::chrono::milliseconds(1)));
    end->set_value();
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

      late = std::thread([&] { later = watch_.GetTypes(LONG); });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it most likely waits by then
      return {};
    };
    GetAnswer(ask);
    late.join();
    EXPECT_EQ(MERGE, later);
  }
}
