// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>

namespace OrthancPerf
{
  namespace
  {
    class TuningResourceTest : public testing::Test
    {
    protected:
      TuningResourceTest()
      {
        RegisterTuningResource(
            router_, TuningResourceSources{store_, Json::objectValue, true, [](const auto&) {
                                           }});
      }

      void Put(int keepAlive) const
      {
        RestRequest request;
        request.method = HttpMethod::Put;
        request.path = "/perf/tuning";
        request.body =
            R"({"DicomSockets": {"KeepAliveSeconds": )" + std::to_string(keepAlive) + "}}";
        EXPECT_EQ(200, router_.Serve(request).status);
      }

      std::function<void()> onNote_;
      std::atomic<bool> isNoted_ = false;
      TuningStore store_{Tuning(),
                         std::nullopt,
                         {},
                         {},
                         [this](const std::string&)
                         {
                           onNote_();
                         }};
      RestRouter router_;
    };
  }

  TEST_F(TuningResourceTest, ChangesAreNotedInTheOrderInWhichTheyCameIntoForce)
  {
    std::future<void> other;
    onNote_ = [this, &other]
    {
      if (isNoted_.exchange(true))
      {
        return;
      }

      other = std::async(std::launch::async, [this] { Put(72); });

      // Time enough to overtake the first one, were it let to
      other.wait_for(std::chrono::milliseconds(200));
    };
    Put(71);
    other.get();

    const std::vector<TuningChange> noted = store_.GetChanges({});
    ASSERT_EQ(2U, noted.size());
    EXPECT_EQ(71, noted[0].change["DicomSockets"]["KeepAliveSeconds"].asInt());
    EXPECT_EQ(72, noted[1].change["DicomSockets"]["KeepAliveSeconds"].asInt());
  }
}
