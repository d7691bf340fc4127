// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/CompareResource.h"

#include "Metrics/TranscodingMetrics.h"
#include "Transcoding/FakeEngine.h"
#include "Transcoding/ImageFile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* INSTANCE = "8202c6f7-8a00aecd-2eaa4f8b-42e73517-f9013f6b";


    // Jobs that never begin, and files of which each is loaded for as long as there may be another
    class Host : public IComparisonHost
    {
    public:
      void WaitForEngines() const override
      {
      }

      std::optional<std::vector<std::string>>
      FindInstances(const std::string& resource) const override
      {
        return std::vector<std::string>{resource};
      }

      std::string LoadFile(const std::string&) const override
      {
        std::unique_lock<std::mutex> lock(mutex_);
        loads_++;
        loading_++;
        most_ = std::max(most_, loading_);
        another_.notify_all();
        another_.wait_for(lock, std::chrono::milliseconds(200), [this] { return loading_ > 1; });
        loading_--;
        return image_;
      }

      std::string Submit(std::unique_ptr<IJob>, int) override
      {
        return "job";
      }

      bool IsUnfinished(const std::string&) const override
      {
        return true;
      }

      std::string image_;
      mutable std::mutex mutex_;
      mutable std::condition_variable another_;
      mutable int loads_ = 0;
      mutable int loading_ = 0;
      mutable int most_ = 0;
    };


    Engines MakeEngines()
    {
      Engines engines;
      engines.push_back(std::make_unique<FakeEngine>("dcmtk"));
      return engines;
    }


    class CompareResourceTest : public testing::Test
    {
    protected:
      CompareResourceTest()
      {
        ImageFile image;
        image.FillWithNoise(1);
        host_.image_ = image.Make();
        RegisterCompareResource(router_, engines_, host_, metrics_);
      }

      int Post() const
      {
        RestRequest request;
        request.method = HttpMethod::Post;
        request.path = "/perf/transcoding/compare";
        request.body = R"({"Resource": ")" + std::string(INSTANCE) + R"("})";
        return router_.Serve(request).status;
      }

      EngineDirectory engines_{MakeEngines()};
      TranscodingMetrics metrics_;
      Host host_;
      RestRouter router_;
    };
  }


  TEST_F(CompareResourceTest, WhileOneIsUnderWayNothingIsLoadedForAnother)
  {
    EXPECT_EQ(200, Post());
    EXPECT_EQ(409, Post());
    EXPECT_EQ(1, host_.loads_);
  }


  TEST_F(CompareResourceTest, OfRequestsAtOnceOneFileIsInMemoryAtATime)
  {
    std::future<int> other = std::async(std::launch::async, [this] { return Post(); });
    const int status = Post();
    EXPECT_EQ(200 + 409, status + other.get());
    EXPECT_EQ(1, host_.most_);
  }
}
