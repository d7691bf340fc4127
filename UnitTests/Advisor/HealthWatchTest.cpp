// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/HealthWatch.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::chrono::milliseconds SOON(20);
    constexpr std::chrono::seconds LONG(60);  // is not waited for


    // Answers at once
    HealthWatch::Part MakePart(const std::string& name, Duration period,
                               const std::function<std::string()>& ask)
    {
      return {name, period,
              [ask](const HealthWatch::Answer& answer)
              {
                answer(ask());
              }};
    }


    // Answers whenever a test does
    HealthWatch::Part MakeHanging(const std::string& name, HealthWatch::Answer& answer)
    {
      return {name, Duration::zero(),
              [&answer](const HealthWatch::Answer& given)
              {
                answer = given;
              }};
    }
  }


  TEST(HealthWatch, AnswersWhatWasAnswered)
  {
    std::string problem;
    HealthWatch watch({MakePart("Well", LONG, [] { return std::string(); }),
                       MakePart("Disk", Duration::zero(), [&problem] { return problem; })});
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
    HealthWatch watch(
        {MakePart("Often", Duration::zero(), [&often] { return ++often < 0 ? "?" : ""; }),
         MakePart("Seldom", LONG, [&seldom] { return ++seldom < 0 ? "?" : ""; })});
    EXPECT_EQ(often, 0);
    EXPECT_TRUE(watch.Look(LONG).empty());
    EXPECT_TRUE(watch.Look(LONG).empty());
    EXPECT_EQ(often, 2);
    EXPECT_EQ(seldom, 1);
  }


  TEST(HealthWatch, AnExceptionIsAProblem)
  {
    HealthWatch watch(
        {MakePart("Database", LONG, []() -> std::string { throw std::runtime_error("gone"); })});
    EXPECT_EQ(watch.Look(LONG).at(0).text, "gone");
  }


  // Nobody waits for it, and what it said before it hung is good until it has hung for too long
  TEST(HealthWatch, WhoHangsIsNamed)
  {
    HealthWatch::Answer answer;
    HealthWatch watch({MakeHanging("Database", answer)}, std::chrono::seconds(1));
    watch.Look(Duration::zero());
    answer("");
    EXPECT_TRUE(watch.Look(SOON).empty());

    // Its last answer may be no longer believed a moment before it has hung for too long
    std::vector<HealthWatch::Problem> found;
    while (found.empty() || found[0].text == "not known yet")
    {
      found = watch.Look(SOON);
    }
    EXPECT_EQ(found[0].text, "no answer for 1 s");

    answer("");
    EXPECT_TRUE(watch.Look(Duration::zero()).empty());
  }


  TEST(HealthWatch, WhoHangsKeepsNobodyFromBeingAsked)
  {
    HealthWatch::Answer answer;
    HealthWatch watch({MakeHanging("Database", answer),
                       MakePart("Disk", Duration::zero(), [] { return std::string("full"); })});
    const std::vector<HealthWatch::Problem> found = watch.Look(SOON);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].text, "not known yet");
    EXPECT_EQ(found[1].text, "full");
  }


  TEST(HealthWatch, WhatIsLongAgoIsNotKnown)
  {
    HealthWatch::Answer answer;
    HealthWatch watch({MakeHanging("Disk", answer)}, SOON);
    watch.Look(Duration::zero());
    answer("");
    std::this_thread::sleep_for(SOON);
    EXPECT_EQ(watch.Look(Duration::zero()).at(0).text, "not known yet");
  }


  // The disk of an Orthanc that is gone answers at last
  TEST(HealthWatch, AnAnswerMayComeTooLateForAnybody)
  {
    HealthWatch::Answer answer;
    HealthWatch({MakeHanging("Disk", answer)}).Look(Duration::zero());
    answer("full");
  }
}
