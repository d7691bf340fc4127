// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/RecentRequests.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::milliseconds;

    class RecentRequestsTest : public testing::Test
    {
    protected:
      void Finish(RouteClass route, int work, const std::string& address = "10.0.0.1")
      {
        FinishedRequest request;
        request.route = route;
        request.status = 200;
        request.address = address;
        request.product = "viewer";
        request.bytesSent = 1000;
        request.phases = {milliseconds(50), milliseconds(1),    std::nullopt,
                          std::nullopt,     milliseconds(work), milliseconds(2)};
        request.clientWait = milliseconds(1);
        request.endedAt = now_;
        requests_.OnRequestFinished(request);
      }

      TimePoint now_ = TimePoint(std::chrono::hours(1));
      RecentRequests requests_ = RecentRequests(3, [this] { return now_; });
    };
  }

  TEST_F(RecentRequestsTest, TheLatestComeNewestFirstAndAreBounded)
  {
    for (int work = 1; work <= 5; work++)
    {
      Finish(RouteClass::WadoFrames, work);
    }

    const std::vector<FinishedRequest> latest = requests_.Latest(10, {});
    ASSERT_EQ(3U, latest.size());
    EXPECT_EQ(milliseconds(8), latest[0].GetDuration());
    EXPECT_EQ(milliseconds(6), latest[2].GetDuration());
    EXPECT_EQ(1U, requests_.Latest(1, {}).size());
  }

  TEST_F(RecentRequestsTest, TheSlowestOfEachClassAreKeptForAnHour)
  {
    Finish(RouteClass::Archive, 5000);

    for (int work = 1; work <= 100; work++)
    {
      Finish(RouteClass::WadoFrames, work);
    }

    const std::vector<FinishedRequest> slowest = requests_.Slowest(100, {});
    ASSERT_EQ(21U, slowest.size());
    EXPECT_EQ(RouteClass::Archive, slowest[0].route);
    EXPECT_EQ(milliseconds(103), slowest[1].GetDuration());
    EXPECT_EQ(milliseconds(84), slowest[20].GetDuration());
    now_ += std::chrono::minutes(61);
    EXPECT_TRUE(requests_.Slowest(100, {}).empty());
    Finish(RouteClass::WadoFrames, 1);
    EXPECT_EQ(1U, requests_.Slowest(100, {}).size());
  }

  TEST_F(RecentRequestsTest, AreFoundByClassAndByAddressOrProductOfTheClient)
  {
    Finish(RouteClass::WadoFrames, 1);
    Finish(RouteClass::Query, 1, "10.0.0.2");
    EXPECT_EQ(1U, requests_.Latest(9, {RouteClass::Query, {}}).size());
    EXPECT_EQ(1U, requests_.Latest(9, {{}, "10.0.0.2"}).size());
    EXPECT_EQ(2U, requests_.Latest(9, {{}, "viewer"}).size());
    EXPECT_TRUE(requests_.Slowest(9, {RouteClass::File, {}}).empty());
  }

  TEST_F(RecentRequestsTest, ClassesAddUpOverFiveMinutes)
  {
    const auto summarize = [this]
    {
      return requests_.Summarize()[static_cast<std::size_t>(RouteClass::WadoFrames)];
    };
    Finish(RouteClass::WadoFrames, 1);
    Finish(RouteClass::WadoFrames, 3);
    const ReadSummary frames = summarize();
    EXPECT_EQ(2U, frames.CountRequests());
    EXPECT_EQ(0U, frames.CountFailed());
    EXPECT_EQ(2000U, frames.bytes);
    EXPECT_DOUBLE_EQ(0.004, frames.phases[4].sum);
    EXPECT_EQ(milliseconds(2), frames.clientWait);
    now_ += std::chrono::minutes(6);
    EXPECT_EQ(0U, summarize().CountRequests());
  }
}
