// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/RecentInstances.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    FinishedInstance Make(std::size_t size, const std::string& peer = "CT1",
                          Origin origin = Origin::DicomProtocol)
    {
      FinishedInstance instance;
      instance.outcome = Outcome::Stored;
      instance.size = size;
      instance.peer.name = peer;
      instance.origin = origin;
      return instance;
    }

    std::vector<std::size_t> GetSizes(const std::vector<FinishedInstance>& instances)
    {
      std::vector<std::size_t> sizes;
      sizes.reserve(instances.size());

      for (const FinishedInstance& instance : instances)
      {
        sizes.push_back(instance.size);
      }

      return sizes;
    }

    using Sizes = std::vector<std::size_t>;
  }

  TEST(RecentInstances, TheOrderIsThatOfTheirEndNotOfTheirReport)
  {
    const auto make = [](std::size_t size, int second)
    {
      FinishedInstance instance = Make(size);
      instance.endedAt = TimePoint(std::chrono::seconds(second));

      // The time of day may be set back
      instance.finishedAt = std::chrono::system_clock::time_point(std::chrono::seconds(-second));
      return instance;
    };

    RecentInstances recent(3);
    recent.OnInstanceFinished(make(1, 10));
    recent.OnInstanceFinished(make(3, 30));
    recent.OnInstanceFinished(make(2, 20));
    EXPECT_EQ(Sizes({3, 2, 1}), GetSizes(recent.Latest(10)));
    recent.OnInstanceFinished(make(4, 25));
    EXPECT_EQ(Sizes({3, 4, 2}), GetSizes(recent.Latest(10)));
  }

  TEST(RecentInstances, TheNewestComesFirstAndTheOldestMakesRoom)
  {
    RecentInstances recent(3);
    RecentInstances none(0);

    for (std::size_t i = 1; i <= 8; i++)
    {
      recent.OnInstanceFinished(Make(i));
      none.OnInstanceFinished(Make(i));
      EXPECT_EQ(std::min(i, std::size_t(3)), recent.Latest(10).size());
    }

    EXPECT_EQ(Sizes({8, 7, 6}), GetSizes(recent.Latest(10)));
    EXPECT_TRUE(none.Latest(10).empty());
  }

  TEST(RecentInstances, TheLimitCountsOnlyWhatMatches)
  {
    RecentInstances recent(10);
    FinishedInstance sent = Make(1);
    sent.direction = Direction::Send;
    recent.OnInstanceFinished(sent);
    recent.OnInstanceFinished(Make(2, "MR1"));
    recent.OnInstanceFinished(Make(3, "CT1"));
    recent.OnInstanceFinished(Make(4, "127.0.0.1", Origin::RestApi));
    InstanceFilter ofCt;
    ofCt.peer = "CT1";
    InstanceFilter ofNone = ofCt;
    ofNone.origin = Origin::RestApi;
    InstanceFilter byDicom;
    byDicom.origin = Origin::DicomProtocol;
    InstanceFilter isSent;
    isSent.direction = Direction::Send;

    EXPECT_EQ(Sizes({4}), GetSizes(recent.Latest(1)));
    EXPECT_EQ(Sizes({3, 1}), GetSizes(recent.Latest(2, ofCt)));
    EXPECT_EQ(Sizes({3, 2}), GetSizes(recent.Latest(2, byDicom)));
    EXPECT_EQ(Sizes({1}), GetSizes(recent.Latest(2, isSent)));
    EXPECT_EQ(Sizes(), GetSizes(recent.Latest(2, ofNone)));
    EXPECT_EQ(Sizes(), GetSizes(recent.Latest(0)));
  }

  TEST(RecentInstances, GoodOnesPushNoFailureOut)
  {
    RecentInstances recent(3);
    FinishedInstance failed = Make(1);
    failed.outcome = Outcome::Failed;
    failed.instanceId = "a";
    recent.OnInstanceFinished(failed);

    for (std::size_t i = 2; i <= 8; i++)
    {
      FinishedInstance stored = Make(i);
      stored.endedAt = TimePoint(std::chrono::seconds(i));
      recent.OnInstanceFinished(stored);
    }

    EXPECT_EQ(Sizes({8, 7, 6, 1}), GetSizes(recent.Latest(10)));
    InstanceFilter filter;
    filter.id = "a";
    EXPECT_EQ(Sizes({1}), GetSizes(recent.Latest(10, filter)));
    filter = {};
    filter.outcome = Outcome::Failed;
    EXPECT_EQ(Sizes({1}), GetSizes(recent.Latest(10, filter)));
    filter.outcome = Outcome::Stored;
    EXPECT_EQ(Sizes({8, 7}), GetSizes(recent.Latest(2, filter)));
  }
}
