// SPDX-License-Identifier: GPL-3.0-or-later
#include "Redirection/GotPatcher.h"
#include "BuildPaths.h"

#include "Redirection/CallerModule.h"
#include "Redirection/LoadedModules.h"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    constexpr ssize_t MARK = -4711;

    using ReadFunction = ssize_t(int, void*, std::size_t);

    ssize_t ReplacedRead(int, void*, std::size_t)
    {
      return MARK;
    }

    ssize_t ReplacedWrite(int, const void*, std::size_t)
    {
      return MARK;
    }

    std::vector<Redirection> MakeRedirections()
    {
      return {{"read", reinterpret_cast<void*>(&ReplacedRead)},
              {"write", reinterpret_cast<void*>(&ReplacedWrite)},
              {"no_such_function", reinterpret_cast<void*>(&ReplacedWrite)}};
    }

    // Nothing to read: the end of a file
    ssize_t Read(ReadFunction* function)
    {
      char c = 0;
      return function(STDIN_FILENO, &c, 0);
    }

    ssize_t ReadBy(const CallerModule& caller)
    {
      return Read(caller.Get<ReadFunction>("CallerRead"));
    }

    class GotPatcherOnCaller : public testing::TestWithParam<const char*>
    {
    protected:
      CallerModule caller_{GetParam()};
      GotPatcher patcher_{MakeRedirections(), nullptr, &CallerModule::IsCaller};
    };
  }

  TEST_P(GotPatcherOnCaller, RedirectsTheCallsOfAModuleAndPutsThemBackAThousandTimes)
  {
    auto* const read = caller_.Get<ReadFunction>("CallerRead");
    auto* const* const table = caller_.Get<ReadFunction*>("CallerReadTable");
    ASSERT_EQ(Read(&::read), Read(read));

    for (int i = 0; i < 1000; i++)
    {
      patcher_.Refresh();
      ASSERT_EQ("", patcher_.GetProblem());
      ASSERT_EQ(MARK, Read(read));
      ASSERT_NE(MARK, Read(table[0]));
      patcher_.Restore();
      ASSERT_EQ(Read(&::read), Read(read));
    }

    patcher_.Refresh();
    patcher_.Refresh();
    const std::vector<RedirectionState> states = patcher_.GetStates();
    ASSERT_EQ(3u, states.size());
    EXPECT_EQ("read", states[0].name);
    EXPECT_EQ(1u, states[0].slots);
    EXPECT_EQ("write", states[1].name);
    EXPECT_EQ(1u, states[1].slots);
    EXPECT_EQ(0u, states[2].slots);
    patcher_.Restore();

    {
      GotPatcher other(MakeRedirections(), nullptr, &CallerModule::IsCaller);
      other.Refresh();
      EXPECT_EQ(MARK, Read(read));
    }

    EXPECT_NE(MARK, Read(read));

    // The module of its owner is left alone
    GotPatcher own(MakeRedirections(), reinterpret_cast<const void*>(read),
                   &CallerModule::IsCaller);
    own.Refresh();
    EXPECT_NE(MARK, Read(read));
    EXPECT_NE("", own.GetProblem());
  }

  TEST_P(GotPatcherOnCaller, LeavesReadOnlyPagesReadOnly)
  {
    const auto collect = [](const ReadOnlyPages& pages)
    {
      std::vector<bool> isReadOnly;
      VisitLoadedModules(pages, nullptr,
                         [&](const LoadedModule& module)
                         {
                           for (const ImportSlot& import : module.imports)
                           {
                             isReadOnly.push_back(pages.Contains(import.slot));
                           }
                         });
      return isReadOnly;
    };

    const std::vector<bool> before = collect(ReadOnlyPages());
    patcher_.Refresh();
    ASSERT_EQ(before, collect(ReadOnlyPages()));
    patcher_.Restore();
    ASSERT_EQ(before, collect(ReadOnlyPages()));
  }

  INSTANTIATE_TEST_SUITE_P(Binding, GotPatcherOnCaller,
                           testing::Values(BuildPaths::GetEagerCaller(),
                                           BuildPaths::GetLazyCaller()),
                           [](const auto& info) { return info.index == 0 ? "Now" : "Lazy"; });

  TEST(GotPatcher, FindsModulesThatAreLoadedLaterAndForgetsThoseThatAreUnloaded)
  {
    GotPatcher patcher(MakeRedirections(), nullptr, &CallerModule::IsCaller);
    patcher.Refresh();
    auto caller = std::make_unique<CallerModule>();
    EXPECT_NE(MARK, ReadBy(*caller));
    patcher.Refresh();
    EXPECT_EQ(MARK, ReadBy(*caller));
    caller.reset();
    patcher.Restore();
    EXPECT_EQ("", patcher.GetProblem());
  }

  TEST(GotPatcher, PutsBackWhatItHasRedirectedIfItFailsHalfWay)
  {
    const CallerModule first(BuildPaths::GetEagerCaller());
    const CallerModule second(BuildPaths::GetLazyCaller());
    int visited = 0;
    const auto filter = [&](const std::string& path)
    {
      if (CallerModule::IsCaller(path) && ++visited == 2)
      {
        throw std::runtime_error("no memory for the second");
      }

      return CallerModule::IsCaller(path);
    };

    GotPatcher patcher(MakeRedirections(), nullptr, filter);
    patcher.Refresh();
    EXPECT_EQ("no memory for the second", patcher.GetProblem());
    EXPECT_NE(MARK, ReadBy(first));
    EXPECT_NE(MARK, ReadBy(second));
    EXPECT_EQ(0U, patcher.GetStates()[0].slots);

    patcher.Refresh();
    EXPECT_EQ("", patcher.GetProblem());
    EXPECT_EQ(2U, patcher.GetStates()[0].slots);
  }

  TEST(GotPatcher, LetsOtherThreadsCallAndTellsThemItsStatesWhileItRedirects)
  {
    const CallerModule first(BuildPaths::GetEagerCaller());
    const CallerModule second(BuildPaths::GetLazyCaller());
    const ssize_t original = Read(&::read);
    GotPatcher patcher(MakeRedirections(), nullptr, &CallerModule::IsCaller);
    std::atomic<bool> stop = false;
    std::thread thread(
        [&]
        {
          while (!stop)
          {
            for (const CallerModule* caller : {&first, &second})
            {
              const ssize_t result = ReadBy(*caller);
              ASSERT_TRUE(result == MARK || result == original) << result;
            }

            const std::size_t slots = patcher.GetStates()[0].slots;
            ASSERT_TRUE(slots == 0 || slots == 2) << slots;
          }
        });

    for (int i = 0; i < 300; i++)
    {
      patcher.Refresh();
      patcher.Restore();
    }

    stop = true;
    thread.join();
  }

  TEST(GotPatcher, SaysWhyNothingIsRedirected)
  {
    GotPatcher patcher({{"no_such_function", reinterpret_cast<void*>(&ReplacedRead)}}, nullptr);
    patcher.Refresh();
    EXPECT_NE(std::string::npos, patcher.GetProblem().find("no module calls"));
  }

  TEST(LoadedModules, AreTheExecutableFirstAndTheDynamicLinkerOnce)
  {
    std::vector<LoadedModule> modules;
    VisitLoadedModules(ReadOnlyPages(), reinterpret_cast<const void*>(&ReplacedRead),
                       [&](const LoadedModule& module) { modules.push_back(module); });

    ASSERT_LT(2u, modules.size());
    EXPECT_TRUE(modules[0].containsOwn);
    EXPECT_FALSE(modules[0].imports.empty());

    int linkers = 0;
    int owners = 0;

    for (const LoadedModule& module : modules)
    {
      linkers += module.isDynamicLinker ? 1 : 0;
      owners += module.containsOwn ? 1 : 0;
      EXPECT_FALSE(module.isBeingLoaded) << module.path;
    }

    EXPECT_EQ(1, linkers);
    EXPECT_EQ(1, owners);
  }
}
