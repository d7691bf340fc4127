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


  TEST_F(HistoryTest, ASecondIsShownOnceItIsOver)
  {
    Receive(3);
    EXPECT_TRUE(ReadSeconds().points.empty());
    EXPECT_EQ(START, ReadSeconds().begin);

    now_++;
    EXPECT_EQ(std::vector<int>{3}, ListInstances(ReadSeconds()));
    EXPECT_EQ(START, ReadSeconds().begin);
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


  TEST_F(HistoryTest, SecondsWithoutAnInstanceAreZero)
  {
    Receive(1);
    now_ += 3;
    Receive(2);
    now_ += 2;
    EXPECT_EQ((std::vector<int>{1, 0, 0, 2, 0}), ListInstances(ReadSeconds()));
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


  TEST_F(HistoryTest, MinutesAddUpTheirSeconds)
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
  }


  TEST_F(HistoryTest, KeepsAnHourOfSeconds)
  {
    Receive(7);
    now_ += 3600;
    const HistoryExcerpt excerpt = ReadSeconds();
    EXPECT_EQ(3599U, excerpt.points.size());  // the 3,600th is not over yet
    EXPECT_EQ(START + 1, excerpt.begin);
    EXPECT_EQ(0U, excerpt.points.front().directions[RECEIVE].instances);
  }


  TEST_F(HistoryTest, KeepsADayOfMinutes)
  {
    Receive(7);
    now_ += UnixSeconds{25} * 3600;
    const HistoryExcerpt excerpt = Read(HistoryResolution::Minute);
    EXPECT_EQ(1439U, excerpt.points.size());
    EXPECT_EQ(START + 3600 + 60, excerpt.begin);
  }


  TEST_F(HistoryTest, SinceLeavesOutWhatTheReaderHas)
  {
    for (int second = 0; second < 10; second++)
    {
      Receive(second);
      now_++;
    }

    EXPECT_EQ((std::vector<int>{8, 9}), ListInstances(ReadSeconds(START + 8)));
    EXPECT_EQ(START + 8, ReadSeconds(START + 8).begin);
  }


  TEST_F(HistoryTest, SinceInTheMiddleOfAMinuteBeginsWithTheNextOne)
  {
    now_ += 180;
    const HistoryExcerpt excerpt = Read(HistoryResolution::Minute, START + 61);
    EXPECT_EQ(START + 120, excerpt.begin);
    EXPECT_EQ(1U, excerpt.points.size());
  }


  TEST_F(HistoryTest, SinceTheNextPointGivesNone)
  {
    now_ += 10;
    EXPECT_TRUE(ReadSeconds(START + 11).points.empty());
    EXPECT_EQ(START + 11, ReadSeconds(START + 11).begin);
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


  TEST_F(HistoryTest, AClockThatGoesBackALittleChangesNothing)
  {
    now_ += 10;
    Receive(1);
    now_ -= 3;
    Receive(1);
    now_ += 4;
    EXPECT_EQ(2U, ReadSeconds().points.back().directions[RECEIVE].instances);
  }


  TEST_F(HistoryTest, AClockThatIsSetBackBeginsAnew)
  {
    now_ += 1000;
    Receive(1);
    now_ -= 900;
    Receive(2);
    now_++;
    EXPECT_EQ(START + 100, ReadSeconds().begin);
    EXPECT_EQ(std::vector<int>{2}, ListInstances(ReadSeconds()));
  }


  // Or else it would wait for as long as the clock was set back
  TEST_F(HistoryTest, AReaderWithPointsFromBeforeAClockWasSetBackGetsAllThereAreSince)
  {
    now_ += 1000;
    const HistoryExcerpt known = ReadSeconds();
    const UnixSeconds next = known.begin + static_cast<UnixSeconds>(known.points.size());
    now_ -= 900;
    Receive(2);
    now_++;
    EXPECT_EQ(START + 100, ReadSeconds(next).begin);
    EXPECT_EQ(std::vector<int>{2}, ListInstances(ReadSeconds(next)));
  }


  TEST_F(HistoryTest, AClockThatIsSetForwardByYearsIsNoHarm)
  {
    Receive(1);
    now_ += 10LL * 365 * 86400;
    Receive(2);
    now_++;
    const HistoryExcerpt excerpt = ReadSeconds();
    EXPECT_EQ(2U, excerpt.points.back().directions[RECEIVE].instances);
    EXPECT_EQ(3599U, excerpt.points.size());
  }
}
