// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/History.h"

#include "Metrics/Associations.h"
#include "Metrics/Instances.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t RECEIVE = 0;
    constexpr std::size_t SEND = 1;

    class HistoryTest : public testing::Test
    {
    protected:
      static constexpr UnixSeconds START = 1'800'000'000;  // a multiple of 60

      void Receive(int count)
      {
        for (int i = 0; i < count; i++)
        {
          history_.OnInstanceFinished(MakeInstance("CT1"));
        }
      }

      HistoryExcerpt Read(HistoryResolution resolution, UnixSeconds since = 0)
      {
        return history_.Read(resolution, since);
      }

      HistoryExcerpt ReadSeconds(UnixSeconds since = 0)
      {
        return Read(HistoryResolution::Second, since);
      }

      UnixSeconds now_ = START;
      History history_{[this]
                       {
                         return std::chrono::system_clock::time_point(std::chrono::seconds(now_));
                       }};
    };

    std::vector<int> ListInstances(const HistoryExcerpt& excerpt)
    {
      std::vector<int> list;

      for (const HistoryPoint& point : excerpt.points)
      {
        list.push_back(static_cast<int>(point.directions[RECEIVE].instances));
      }

      return list;
    }
  }

  TEST_F(HistoryTest, ASecondIsShownOnceItIsOverAlsoWithoutAnInstance)
  {
    Receive(1);
    EXPECT_TRUE(ReadSeconds().points.empty());
    EXPECT_EQ(START, ReadSeconds().begin);
    now_ += 3;
    Receive(2);
    now_ += 2;
    EXPECT_EQ((std::vector<int>{1, 0, 0, 2, 0}), ListInstances(ReadSeconds()));
    EXPECT_EQ(START, ReadSeconds().begin);
    EXPECT_EQ((std::vector<int>{2, 0}), ListInstances(ReadSeconds(START + 3)));
    EXPECT_EQ(START + 3, ReadSeconds(START + 3).begin);
    EXPECT_TRUE(ReadSeconds(START + 6).points.empty());
    EXPECT_EQ(START + 6, ReadSeconds(START + 6).begin);
  }

  TEST_F(HistoryTest, CallsOfOrthancThatFailAreCounted)
  {
    FinishedAssociation association = MakeAssociation("ARCHIVE");
    association.direction = Direction::Send;
    history_.OnAssociationFinished(association);
    association.outcome = AssociationOutcome::Rejected;
    history_.OnAssociationFinished(association);
    association.setup.reset();
    association.outcome = AssociationOutcome::Refused;
    history_.OnAssociationFinished(association);
    association.direction = Direction::Receive;
    history_.OnAssociationFinished(association);
    now_ += 2;
    const HistoryExcerpt excerpt = ReadSeconds();
    ASSERT_EQ(2U, excerpt.points.size());
    EXPECT_EQ(2U, excerpt.points[0].failedCalls);
    EXPECT_EQ(0U, excerpt.points[1].failedCalls);
  }

  TEST_F(HistoryTest, APointHoldsAllThatIsCharted)
  {
    FinishedInstance instance = MakeInstance("CT1");
    instance.outcome = Outcome::Failed;
    instance.stalls = 2;
    instance.stallTime = std::chrono::milliseconds(80);
    history_.OnInstanceFinished(instance);
    instance.direction = Direction::Send;
    history_.OnInstanceFinished(instance);
    history_.OnInstanceFinished(instance);
    history_.OnRequestFinished(FinishedRequest());
    now_++;

    const HistoryPoint point = ReadSeconds().points.at(0);
    EXPECT_EQ(1U, point.directions[SERVE].instances);
    EXPECT_EQ(1U, point.directions[RECEIVE].GetOutcome(Outcome::Failed));
    EXPECT_EQ(1000U, point.directions[RECEIVE].bytes);
    EXPECT_EQ(2U, point.directions[RECEIVE].stalls);
    EXPECT_DOUBLE_EQ(0.08, point.directions[RECEIVE].stallSeconds);
    EXPECT_EQ(2U, point.directions[SEND].instances);
    EXPECT_TRUE(point.directions[SEND].IsObserved(Phase::Storage));
    EXPECT_FALSE(point.directions[SEND].IsObserved(Phase::Sync));
    EXPECT_DOUBLE_EQ(0.004, point.directions[SEND].GetSeconds(Phase::Storage));
  }

  TEST_F(HistoryTest, MinutesAddUpTheirSecondsAndADayOfThemIsKept)
  {
    Receive(1);
    now_ += 59;
    Receive(1);
    now_ += 1;
    Receive(5);
    const HistoryExcerpt minutes = Read(HistoryResolution::Minute);
    EXPECT_EQ(std::chrono::seconds(60), minutes.resolution);
    EXPECT_EQ(START, minutes.begin);
    EXPECT_EQ(std::vector<int>{2}, ListInstances(minutes));

    now_ = START + 180;
    EXPECT_EQ(START + 120, Read(HistoryResolution::Minute, START + 61).begin);
    EXPECT_EQ(1U, Read(HistoryResolution::Minute, START + 61).points.size());

    now_ = START + 3600;
    EXPECT_EQ(3599U, ReadSeconds().points.size());  // the 3,600th is not over yet
    EXPECT_EQ(START + 1, ReadSeconds().begin);
    EXPECT_EQ(0U, ReadSeconds().points.front().directions[RECEIVE].instances);

    now_ = START + UnixSeconds{25} * 3600;
    EXPECT_EQ(1439U, Read(HistoryResolution::Minute).points.size());
    EXPECT_EQ(START + 3600 + 60, Read(HistoryResolution::Minute).begin);
  }

  TEST_F(HistoryTest, AssociationsGoOnUntilTheyAreToldOtherwise)
  {
    history_.Observe(2, {});
    history_.Observe(1, {});
    now_ += 2;
    history_.Observe(0, {});
    now_ += 2;

    std::vector<std::uint32_t> open;

    for (const HistoryPoint& point : ReadSeconds().points)
    {
      open.push_back(point.associations);
    }

    EXPECT_EQ((std::vector<std::uint32_t>{2, 0, 0, 0}), open);
  }

  TEST_F(HistoryTest, AClockMayGoBackALittleAndBeginsAnewIfItIsSetBack)
  {
    now_ += 10;
    Receive(1);
    now_ -= 3;
    Receive(1);
    now_ += 4;
    EXPECT_EQ(2U, ReadSeconds().points.back().directions[RECEIVE].instances);

    now_ += 1000;
    const UnixSeconds next = now_;
    Receive(1);
    now_ -= 900;
    const UnixSeconds begin = now_;
    Receive(2);
    now_++;

    // Also for a reader that has points from before: it would wait for as long otherwise
    for (const UnixSeconds since : {UnixSeconds{0}, next})
    {
      EXPECT_EQ(begin, ReadSeconds(since).begin);
      EXPECT_EQ(std::vector<int>{2}, ListInstances(ReadSeconds(since)));
    }

    now_ += 10LL * 365 * 86400;
    Receive(2);
    now_++;
    EXPECT_EQ(2U, ReadSeconds().points.back().directions[RECEIVE].instances);
    EXPECT_EQ(3599U, ReadSeconds().points.size());
  }

  TEST_F(HistoryTest, ADayByTheMinuteStaysIfTheClockIsSetBackWithinAMinute)
  {
    now_ = START / 60 * 60 + 60;
    Receive(1);
    now_ += 90;
    Receive(2);
    now_ -= 20;
    Receive(1);
    now_ += 60;
    const HistoryExcerpt minutes = Read(HistoryResolution::Minute);
    EXPECT_EQ(START / 60 * 60, minutes.begin);
    EXPECT_EQ((std::vector<int>{0, 1, 3}), ListInstances(minutes));
  }
}
