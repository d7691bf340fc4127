// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/HealthWatch.h"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::chrono::milliseconds SOON(20);
    constexpr std::chrono::seconds LONG(60);  // is not waited for

    using Problems = std::map<std::string, std::string>;
    const Problems NONE;

    // Answers at once
    HealthWatch::Part MakePart(const std::string& name, Duration period,
                               const HealthWatch::Check& check)
    {
      return {name, period, [check] { return check; },
              [](const auto& work)
              {
                work();
              }};
    }

    // Answers whenever a test does, that all is well
    HealthWatch::Part MakeHanging(const std::string& name, std::function<void()>& answer)
    {
      return {name, Duration::zero(),
              [] { return HealthWatch::Check([] { return std::string(); }); },
              [&answer](const auto& work)
              {
                answer = work;
              }};
    }
  }

  TEST(HealthWatch, AsksOnlyWhenSomebodyLooksAndNotTooOften)
  {
    int often = 0;
    int seldom = 0;
    HealthWatch watch(
        {MakePart("Often", Duration::zero(), [&often] { return ++often < 0 ? "?" : ""; }),
         MakePart("Seldom", LONG, [&seldom] { return ++seldom < 0 ? "?" : ""; })});
    EXPECT_EQ(often, 0);
    EXPECT_EQ(watch.Look(LONG).problems, NONE);
    EXPECT_EQ(watch.Look(LONG).problems, NONE);
    EXPECT_EQ(often, 2);
    EXPECT_EQ(seldom, 1);
  }

  TEST(HealthWatch, AnswersWhatWasAnsweredOrThrown)
  {
    std::string problem;
    HealthWatch watch({MakePart("Well", LONG, [] { return std::string(); }),
                       MakePart("Disk", Duration::zero(), [&problem] { return problem; }),
                       {"Not to be checked", Duration::zero(), [] { return HealthWatch::Check(); },
                        [](const auto&)
                        {
                          FAIL();
                        }}});
    EXPECT_EQ(watch.Look(LONG).problems, NONE);
    problem = "No space left on device";
    EXPECT_EQ(watch.Look(LONG).problems, (Problems{{"Disk", problem}}));
    problem.clear();
    EXPECT_EQ(watch.Look(LONG).problems, NONE);

    // Without memory, the health of the server would be bad until its next start otherwise
    HealthWatch throwing(
        {MakePart("Database", LONG, []() -> std::string { throw std::runtime_error("gone"); }),
         MakePart("Disk", LONG, []() -> std::string { throw std::bad_alloc(); })});
    EXPECT_EQ(throwing.Look(LONG).problems,
              (Problems{{"Database", "gone"}, {"Disk", "no memory left"}}));
  }

  // Its last answer is good until it has hung for too long
  TEST(HealthWatch, WhoHangsIsNamedAndKeepsNobodyFromBeingAsked)
  {
    std::function<void()> answer;
    HealthWatch watch({MakeHanging("Database", answer),
                       MakePart("Disk", Duration::zero(), [] { return std::string("full"); })},
                      std::chrono::seconds(2));
    watch.Look(Duration::zero());
    answer();

    HealthWatch::Health health = watch.Look(SOON);
    EXPECT_EQ(health.problems, (Problems{{"Disk", "full"}}));
    EXPECT_EQ(health.waiting, std::vector<std::string>{"Database"});

    while (health.problems.size() < 2)
    {
      health = watch.Look(SOON);
    }

    EXPECT_EQ(health.problems["Database"].rfind("no answer for ", 0), 0U);
    EXPECT_TRUE(health.waiting.empty());
    answer();
    EXPECT_EQ(watch.Look(Duration::zero()).problems, (Problems{{"Disk", "full"}}));
  }

  TEST(HealthWatch, WhoIsSlowFailsTheSecondTimeAlsoIfItWasWellLongAgo)
  {
    const auto hasNoAnswer = [](HealthWatch::Health health)
    {
      return health.problems["Disk"].rfind("no answer for ", 0) == 0;
    };
    std::function<void()> answer;
    HealthWatch patient({MakeHanging("Disk", answer)}, LONG);
    EXPECT_EQ(patient.Look(SOON).problems, NONE);
    EXPECT_TRUE(hasNoAnswer(patient.Look(SOON)));
    answer();
    EXPECT_EQ(patient.Look(SOON).problems, NONE);  // and is asked again
    EXPECT_EQ(patient.Look(SOON).problems, NONE);  // as it has answered lately

    HealthWatch watch({MakeHanging("Disk", answer)}, std::chrono::seconds(1));
    watch.Look(Duration::zero());
    answer();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    EXPECT_EQ(watch.Look(Duration::zero()).waiting, std::vector<std::string>{"Disk"});
    EXPECT_TRUE(hasNoAnswer(watch.Look(Duration::zero())));
  }

  // Another load balancer looks while the first one waits
  TEST(HealthWatch, LooksAtTheSameTimeAreOne)
  {
    std::unique_ptr<HealthWatch> watch;
    std::function<void()> answer;
    HealthWatch::Part disk = MakeHanging("Disk", answer);
    disk.post = [&watch](const auto&)
    {
      EXPECT_EQ(watch->Look(SOON).problems, NONE);
    };
    watch = std::make_unique<HealthWatch>(std::vector<HealthWatch::Part>{disk});
    EXPECT_EQ(watch->Look(SOON).problems, NONE);
    EXPECT_NE(watch->Look(SOON).problems, NONE);
  }

  // The disk of an Orthanc that is gone answers at last
  TEST(HealthWatch, AnAnswerMayComeTooLateForAnybody)
  {
    std::function<void()> answer;
    HealthWatch({MakeHanging("Disk", answer)}).Look(Duration::zero());
    answer();
  }

  TEST(TryToStore, LeavesNothingWhereThereIsRoomAndSaysWhatTheKernelDoes)
  {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "try-to-store";
    std::filesystem::create_directory(folder);
    EXPECT_EQ(TryToStore(folder), "");
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    EXPECT_EQ(TryToStore("/proc/self/no-such-folder"), "No such file or directory");
    EXPECT_NE(TryToStore("/proc/self"), "");

    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small = {0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string problem = TryToStore(folder);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_NE(std::signal(SIGXFSZ, handler), SIG_ERR);
    EXPECT_EQ(problem, "File too large");
    std::filesystem::remove_all(folder);
  }
}
