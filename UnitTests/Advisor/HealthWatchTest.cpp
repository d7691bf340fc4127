// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/HealthWatch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::chrono::milliseconds SOON(20);
    constexpr std::chrono::seconds LONG(60);  // is not waited for


    // The thread that asks, until destroyed
    class Asking
    {
    public:
      explicit Asking(HealthWatch& watch) :
        thread_(
            [this, &watch]
            {
              while (!isOver_)
              {
                watch.AskNext(SOON);
              }
            })
      {
      }

      ~Asking()
      {
        isOver_ = true;
        thread_.join();
      }

    private:
      std::atomic<bool> isOver_{false};
      std::thread thread_;
    };
  }


  TEST(HealthWatch, WhatIsLongAgoIsNotKnown)
  {
    HealthWatch watch({{"Disk", Duration::zero(),
                        []
                        {
                          return std::string();
                        }}},
                      SOON);
    watch.Look(Duration::zero());
    watch.AskNext(LONG);
    std::this_thread::sleep_for(SOON);
    EXPECT_EQ(watch.Look(Duration::zero()).at(0).text, "not known yet");
  }


  TEST(HealthWatch, AnswersWhatWasAnswered)
  {
    std::string problem;
    HealthWatch watch({{"Well", LONG,
                        []
                        {
                          return std::string();
                        }},
                       {"Disk", Duration::zero(),
                        [&problem]
                        {
                          return problem;
                        }}});
    const Asking asking(watch);
    EXPECT_TRUE(watch.Look(LONG).empty());

    problem = "No space left on device";
    const std::vector<HealthWatch::Problem> found = watch.Look(LONG);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].part, "Disk");
    EXPECT_EQ(found[0].text, problem);

    problem.clear();
    EXPECT_TRUE(watch.Look(LONG).empty());
  }


  TEST(HealthWatch, AsksOnlyWhenSomebodyLooksAndNotTooOften)
  {
    int often = 0;
    int seldom = 0;
    HealthWatch watch({{"Often", Duration::zero(),
                        [&often]
                        {
                          return ++often < 0 ? "?" : "";
                        }},
                       {"Seldom", LONG,
                        [&seldom]
                        {
                          return ++seldom < 0 ? "?" : "";
                        }}});
    watch.AskNext(SOON);
    EXPECT_EQ(often, 0);

    const Asking asking(watch);
    EXPECT_TRUE(watch.Look(LONG).empty());
    EXPECT_TRUE(watch.Look(LONG).empty());
    EXPECT_EQ(often, 2);
    EXPECT_EQ(seldom, 1);
  }


  TEST(HealthWatch, AnExceptionIsAProblem)
  {
    HealthWatch watch({{"Database", LONG,
                        []() -> std::string
                        {
                          throw std::runtime_error("gone");
                        }}});
    const Asking asking(watch);
    EXPECT_EQ(watch.Look(LONG).at(0).text, "gone");
  }


  // Nobody waits for it, and what it said before it hung is good until it has hung for too long
  TEST(HealthWatch, WhoHangsIsNamed)
  {
    std::promise<void> end;
    std::atomic<int> asked{0};
    HealthWatch watch({{"Database", Duration::zero(),
                        [&end, &asked]
                        {
                          if (++asked == 2)
                          {
                            end.get_future().wait();
                          }
                          return std::string();
                        }}},
                      std::chrono::seconds(1));
    const Asking asking(watch);
    EXPECT_TRUE(watch.Look(LONG).empty());
    EXPECT_TRUE(watch.Look(SOON).empty());

    // Its last answer may be no longer believed a moment before it has hung for too long
    std::vector<HealthWatch::Problem> found;
    while (found.empty() || found[0].text == "not known yet")
    {
      found = watch.Look(SOON);
    }
    EXPECT_EQ(found[0].text, "no answer for 1 s");

    end.set_value();
    EXPECT_TRUE(watch.Look(LONG).empty());
  }


  TEST(HealthWatch, WhoHangsKeepsNobodyFromBeingAsked)
  {
    std::promise<void> end;
    HealthWatch watch({{"Database", LONG,
                        [hanging = end.get_future().share()]
                        {
                          hanging.wait();
                          return std::string();
                        }},
                       {"Disk", Duration::zero(),
                        []
                        {
                          return std::string("full");
                        }}});
    EXPECT_EQ(watch.CountParts(), 2U);
    const Asking one(watch);
    const Asking other(watch);

    std::vector<HealthWatch::Problem> found;
    do
    {
      found = watch.Look(SOON);
    } while (found.at(1).text != "full");
    EXPECT_EQ(found[0].text, "not known yet");

    end.set_value();
    EXPECT_EQ(watch.Look(LONG).size(), 1U);
  }


  TEST(HealthWatch, WhoWasNeverAnsweredKnowsNothingYet)
  {
    HealthWatch watch({{"Database", LONG,
                        []
                        {
                          return std::string();
                        }}});
    EXPECT_EQ(watch.Look(Duration::zero()).at(0).text, "not known yet");
  }
}
