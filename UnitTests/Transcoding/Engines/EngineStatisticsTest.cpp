// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/EngineStatistics.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

namespace OrthancPerf
{
  namespace
  {
    using Names = std::vector<std::string>;

    constexpr std::size_t SIZE = 1000;


    // Engines of known speed, and the statistics that have to find out
    class EngineStatisticsTest : public testing::Test
    {
    protected:
      // What is chosen, all going well
      std::string Next()
      {
        const Names chosen = statistics_.Choose(available_, SIZE, now_);
        statistics_.Learn({Succeed(chosen.front())}, now_);
        return chosen.front();
      }

      void Run(int instances)
      {
        for (int i = 0; i < instances; i++)
        {
          counts_[Next()]++;
        }
      }

      static TranscodingReport Report(const std::string& engine, TranscodingOutcome outcome,
                                      Duration duration, const std::string& reason)
      {
        TranscodingReport report;
        report.engine = engine;
        report.outcome = outcome;
        report.duration = duration;
        report.sourceSize = SIZE;
        report.reason = reason;
        return report;
      }

      TranscodingReport Succeed(const std::string& engine)
      {
        now_ += times_[engine];
        return Report(engine, TranscodingOutcome::Transcoded, times_[engine], "");
      }

      static TranscodingReport Fail(const std::string& engine)
      {
        return Report(engine, TranscodingOutcome::Failed, Duration(1000), "crashed");
      }

      static TranscodingReport RunOutOfTime(const std::string& engine, Duration duration)
      {
        TranscodingReport report =
            Report(engine, TranscodingOutcome::Failed, duration, "did not answer in time");
        report.isOutOfTime = true;
        return report;
      }

      static TranscodingReport Decline(const std::string& engine)
      {
        return Report(engine, TranscodingOutcome::Declined, Duration(10), "not this");
      }

      EngineFigures Get(const std::string& engine) const
      {
        for (const EngineFigures& figures : statistics_.GetFigures())
        {
          if (figures.engine == engine)
          {
            return figures;
          }
        }

        return {};
      }

      const Names available_ = {"a", "b", "c"};
      std::map<std::string, Duration> times_ = {
          {"a", Duration(3000)}, {"b", Duration(1000)}, {"c", Duration(20000)}};
      std::map<std::string, int> counts_;
      EngineStatistics statistics_;
      TimePoint now_{std::chrono::hours(1)};
    };
  }


  TEST_F(EngineStatisticsTest, WhatOthersChoseIsAMeasurement)
  {
    for (int i = 0; i < 2; i++)
    {
      statistics_.Observe(Succeed("c"), now_);
    }

    EXPECT_EQ(2u, Get("c").tries);
    EXPECT_EQ("", statistics_.GetFavourite());
    Run(4);
    EXPECT_EQ(2, counts_["a"]);
    EXPECT_EQ(2, counts_["b"]);
    EXPECT_EQ("b", Next());
  }


  TEST_F(EngineStatisticsTest, WhatOthersSpentDoesNotPayForTrials)
  {
    for (int i = 0; i < 100'000; i++)
    {
      statistics_.Observe(Succeed("c"), now_);
    }

    Run(100);
    EXPECT_EQ(0, counts_["c"]);  // what a hundred of "b" took pays for none of "c"
    EXPECT_GT(counts_["b"], 90);
  }


  TEST_F(EngineStatisticsTest, AnEngineThatFailedWhereNoOtherWasTriedIsNotDropped)
  {
    statistics_.Observe(Fail("b"), now_);
    EXPECT_EQ(1u, Get("b").failures);
    EXPECT_FALSE(Get("b").isDropped);
  }


  TEST_F(EngineStatisticsTest, EachEngineIsMeasuredBeforeTheFastestIsChosen)
  {
    Run(6);
    EXPECT_EQ(2, counts_["a"]);
    EXPECT_EQ(2, counts_["b"]);
    EXPECT_EQ(2, counts_["c"]);
    EXPECT_EQ("b", Next());
    EXPECT_EQ("b", statistics_.GetFavourite());
    EXPECT_EQ("the fastest of 3 measured", statistics_.Explain());
    EXPECT_DOUBLE_EQ(1e-9, Get("b").secondsPerByte);
  }


  TEST_F(EngineStatisticsTest, OthersAreTriedAgainForATinyShareOfTheTime)
  {
    Run(6);
    counts_.clear();
    Run(100000);

    const Duration total =
        counts_["a"] * times_["a"] + counts_["b"] * times_["b"] + counts_["c"] * times_["c"];
    const Duration others = total - counts_["b"] * times_["b"];
    EXPECT_GT(counts_["a"], 0);
    EXPECT_GT(counts_["c"], 0);
    EXPECT_LE(ToSeconds(others), 0.021 * ToSeconds(total));
  }


  TEST_F(EngineStatisticsTest, ASlowerEngineThatGetsFasterIsFound)
  {
    Run(100);
    times_["a"] = Duration(100);
    Run(100000);
    EXPECT_EQ("a", statistics_.GetFavourite());
  }


  TEST_F(EngineStatisticsTest, TheFirstTryMayBeSlow)
  {
    times_["b"] = std::chrono::seconds(1);  // its process starts
    EXPECT_EQ("a", Next());
    EXPECT_EQ("a", Next());
    EXPECT_EQ("b", Next());
    times_["b"] = Duration(1000);
    Run(10);
    EXPECT_EQ("b", statistics_.GetFavourite());
  }


  TEST_F(EngineStatisticsTest, TwoOfTheSameSpeedDontTakeTurns)
  {
    times_["a"] = Duration(1010);
    times_["c"] = Duration(1005);
    Run(6);
    const std::string favourite = statistics_.GetFavourite();

    for (int i = 0; i < 1000; i++)
    {
      times_["a"] = Duration(i % 2 == 0 ? 1010 : 990);
      Next();
      EXPECT_EQ(favourite, statistics_.GetFavourite());
    }
  }


  TEST_F(EngineStatisticsTest, TheOthersStandByInOrderOfSpeed)
  {
    Run(6);
    EXPECT_EQ((Names{"b", "a", "c"}), statistics_.Choose(available_, SIZE, now_));
  }


  TEST_F(EngineStatisticsTest, AnEngineThatFailsWhereAnotherDoesNotIsDropped)
  {
    Run(6);
    statistics_.Learn({Fail("b"), Succeed("a")}, now_);
    EXPECT_TRUE(Get("b").isDropped);
    EXPECT_EQ("crashed", Get("b").problem);

    counts_.clear();
    Run(500);
    EXPECT_EQ(0, counts_["b"]);
    EXPECT_EQ("a", statistics_.GetFavourite());
  }


  TEST_F(EngineStatisticsTest, AnInstanceOnWhichAllFailIsToBlameItself)
  {
    Run(6);
    statistics_.Learn({Fail("b"), Fail("a"), Fail("c")}, now_);
    EXPECT_FALSE(Get("b").isDropped);
    EXPECT_EQ(1u, Get("b").failures);
    EXPECT_EQ("b", Next());
  }


  TEST_F(EngineStatisticsTest, ADroppedEngineIsTriedOnceMoreAfterAWhile)
  {
    Run(6);
    statistics_.Learn({Fail("b"), Succeed("a")}, now_);
    now_ += EngineStatistics::RETRY_TIME;

    EXPECT_EQ("b", statistics_.Choose(available_, SIZE, now_).front());
    EXPECT_EQ("a", statistics_.Choose(available_, SIZE, now_).front());  // at the same time

    statistics_.Learn({Fail("b"), Succeed("a")}, now_);
    EXPECT_NE("b", Next());
  }


  TEST_F(EngineStatisticsTest, ADroppedEngineIsTriedOnceMoreAfterManyInstances)
  {
    Run(6);
    statistics_.Learn({Fail("b"), Succeed("a")}, now_);
    counts_.clear();
    Run(static_cast<int>(EngineStatistics::RETRY_INSTANCES) + 100);
    EXPECT_GT(counts_["b"], 10);  // back, as it went well
    EXPECT_EQ("b", statistics_.GetFavourite());
  }


  TEST_F(EngineStatisticsTest, OfSeveralThatAreDueOneAfterTheOtherGetsItsTry)
  {
    Run(6);
    statistics_.Learn({Fail("b"), Succeed("a")}, now_);
    statistics_.Learn({Fail("a"), Succeed("c")}, now_);
    now_ += EngineStatistics::RETRY_TIME;

    const std::string first = statistics_.Choose(available_, SIZE, now_).front();
    const std::string second = statistics_.Choose(available_, SIZE, now_).front();
    EXPECT_EQ((std::set<std::string>{"a", "b"}), (std::set<std::string>{first, second}));

    statistics_.Learn({Succeed("b")}, now_);
    statistics_.Learn({Fail("a"), Succeed("b")}, now_);
    EXPECT_FALSE(Get("b").isDropped);
    EXPECT_EQ("b", Next());
  }


  TEST_F(EngineStatisticsTest, ADroppedEngineThatWasNeverMeasuredGetsItsTry)
  {
    statistics_.Learn({Fail("b"), Succeed("a")}, now_);
    Run(6);
    now_ += EngineStatistics::RETRY_TIME;
    EXPECT_EQ("b", Next());
    EXPECT_FALSE(Get("b").isDropped);
  }


  TEST_F(EngineStatisticsTest, DeclinesAreRemembered)
  {
    for (int i = 0; i < 3; i++)
    {
      EXPECT_FALSE(Get("a").isDropped);
      statistics_.Learn({Decline("a"), Succeed("b")}, now_);
    }

    EXPECT_TRUE(Get("a").isDropped);
    EXPECT_EQ(3u, Get("a").declines);
    EXPECT_EQ("b", Next());
  }


  TEST_F(EngineStatisticsTest, AnImageOfAnotherMindIsNoDecline)
  {
    Run(6);

    for (int i = 0; i < 10; i++)
    {
      statistics_.Learn({Decline("b"), Succeed("a")}, now_);
      statistics_.Learn({Succeed("b")}, now_);
    }

    EXPECT_FALSE(Get("b").isDropped);
  }


  TEST_F(EngineStatisticsTest, AllGetTheirChanceWhereAllWereDropped)
  {
    for (int i = 0; i < 3; i++)
    {
      statistics_.Learn({Decline("a"), Decline("b"), Decline("c")}, now_);
    }

    EXPECT_EQ("no engine is left: all were dropped", statistics_.Explain());
    EXPECT_EQ(available_, statistics_.Choose(available_, SIZE, now_));
  }


  TEST_F(EngineStatisticsTest, DroppedEnginesStandByBehindTheOthers)
  {
    Run(6);
    statistics_.Learn({Fail("b"), Succeed("a")}, now_);
    EXPECT_EQ((Names{"a", "c", "b"}), statistics_.Choose(available_, SIZE, now_));

    now_ += Duration(1);
    statistics_.Learn({Fail("a"), Succeed("c")}, now_);
    EXPECT_EQ((Names{"c", "b", "a"}), statistics_.Choose(available_, SIZE, now_));
  }


  TEST_F(EngineStatisticsTest, WhatADroppedEngineAloneCanDoIsNoReasonToBeginWithIt)
  {
    Run(6);
    statistics_.Learn({Fail("b"), Succeed("a")}, now_);
    statistics_.Learn({Fail("a"), Decline("c"), Succeed("b")}, now_);
    EXPECT_TRUE(Get("b").isDropped);
    EXPECT_FALSE(Get("a").isDropped);
    EXPECT_EQ((Names{"a", "c", "b"}), statistics_.Choose(available_, SIZE, now_));
  }


  TEST_F(EngineStatisticsTest, WhereAllWereDroppedTheOneThatCanIsBack)
  {
    for (int i = 0; i < 3; i++)
    {
      statistics_.Learn({Decline("a"), Decline("b"), Decline("c")}, now_);
    }

    statistics_.Learn({Decline("a"), Succeed("b")}, now_);
    EXPECT_EQ((Names{"b", "c", "a"}), statistics_.Choose(available_, SIZE, now_));
  }


  TEST_F(EngineStatisticsTest, AnEngineThatTakesAllTheTimeIsDropped)
  {
    Run(6);
    statistics_.Learn({RunOutOfTime("b", std::chrono::seconds(30))}, now_);
    EXPECT_TRUE(Get("b").isDropped);
    EXPECT_EQ("b", statistics_.Choose(available_, SIZE, now_).back());
  }


  TEST_F(EngineStatisticsTest, WhoTookMostOfTheTimeIsDroppedNotWhoHadNoneLeft)
  {
    Run(6);
    TranscodingReport slow = Fail("b");
    slow.verification = std::chrono::seconds(29);
    statistics_.Learn({slow, RunOutOfTime("a", std::chrono::seconds(1))}, now_);
    EXPECT_TRUE(Get("b").isDropped);
    EXPECT_FALSE(Get("a").isDropped);
  }


  TEST_F(EngineStatisticsTest, NothingIsChosenAmongNone)
  {
    EXPECT_TRUE(statistics_.Choose({}, SIZE, now_).empty());
  }


  TEST_F(EngineStatisticsTest, TheOnlyEngineIsChosenWhateverBecomesOfIt)
  {
    for (int i = 0; i < 5; i++)
    {
      EXPECT_EQ(Names{"a"}, statistics_.Choose({"a"}, SIZE, now_));
      statistics_.Learn({Fail("a")}, now_);
      statistics_.Learn({RunOutOfTime("a", std::chrono::seconds(30))}, now_);
    }

    EXPECT_EQ("the only one that writes this", statistics_.Explain());
  }
}
