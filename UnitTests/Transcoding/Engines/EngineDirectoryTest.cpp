// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/EngineDirectory.h"

#include "Transcoding/FakeEngine.h"

#include <gtest/gtest.h>
#include <tuple>

namespace OrthancPerf
{
  namespace
  {
    using State = SyntaxVerdict::State;

    Engines MakeEngines()
    {
      auto first = std::make_unique<FakeEngine>("first");
      auto second = std::make_unique<FakeEngine>("second", std::set<std::string>{RLE});
      auto missing = std::make_unique<FakeEngine>("missing");
      missing->problem = "its program is missing";
      first->Changes(
          [](DataSetEditor& editor)
          {
            if (editor.Find(0x00020010)->GetText() == JPEG_LOSSLESS)
            {
              editor.Set(0x00080018, "UI", "1.2.3");
            }
          });

      Engines engines;
      engines.push_back(std::move(first));
      engines.push_back(std::move(second));
      engines.push_back(std::move(missing));
      return engines;
    }

    std::vector<std::string> GetNames(const std::vector<const ITranscodingEngine*>& engines)
    {
      std::vector<std::string> names;
      names.reserve(engines.size());

      for (const ITranscodingEngine* const engine : engines)
      {
        names.emplace_back(engine->GetName());
      }

      return names;
    }

    State GetState(const EngineVerdict& verdict, const std::string& syntax)
    {
      for (const SyntaxVerdict& entry : verdict.syntaxes)
      {
        if (entry.transferSyntax == syntax)
        {
          return entry.state;
        }
      }

      return State::Untested;
    }
  }

  TEST(EngineDirectory, OnlyWhatWasTestedAndWorksIsFoundAndAllElseExplained)
  {
    EngineDirectory directory(MakeEngines());
    EXPECT_TRUE(directory.FindAll(RLE).empty());
    EXPECT_EQ(nullptr, directory.Find("first", RLE));
    EXPECT_EQ("not available: not tested yet", directory.Explain("first", RLE));
    EXPECT_EQ(3u, directory.GetVerdicts().size());
    EXPECT_FALSE(directory.GetVerdicts()[2].isTested);

    directory.TestAll();
    EXPECT_EQ((std::vector<std::string>{"first", "second"}), GetNames(directory.FindAll(RLE)));
    EXPECT_TRUE(directory.FindAll(JPEG_LOSSLESS).empty());
    EXPECT_STREQ("second", directory.Find("second", RLE)->GetName());

    for (const auto& [engine, syntax, reason] :
         {std::tuple("second", JPEG_LS, "does not write this transfer syntax"),
          std::tuple("missing", RLE, "not available: its program is missing"),
          std::tuple("third", RLE, "there is no such engine"),
          std::tuple("first", JPEG_LOSSLESS,
                     "switched off by its self-test: image of 8 bits: wrote another SOP Instance "
                     "UID")})
    {
      EXPECT_EQ(nullptr, directory.Find(engine, syntax)) << engine;
      EXPECT_EQ(reason, directory.Explain(engine, syntax));
    }

    const std::vector<EngineVerdict> verdicts = directory.GetVerdicts();
    ASSERT_EQ(3u, verdicts.size());
    EXPECT_TRUE(verdicts[2].isTested);
    EXPECT_EQ(12u, verdicts[0].syntaxes.size());
    EXPECT_EQ(State::Works, GetState(verdicts[0], RLE));
    EXPECT_EQ(State::SwitchedOff, GetState(verdicts[0], JPEG_LOSSLESS));
    EXPECT_EQ(State::Unsupported, GetState(verdicts[0], JPEG_LS));
    EXPECT_TRUE(verdicts[1].isAvailable);
    EXPECT_FALSE(verdicts[2].isAvailable);
    EXPECT_EQ(State::Untested, verdicts[2].syntaxes.front().state);
  }

  TEST(EngineDirectory, AutoTriesTheFastestFirstAndOneThatFailedLastForTenMinutes)
  {
    auto slow = std::make_unique<FakeEngine>("slow");
    slow->isSlow = true;
    Engines engines;
    engines.push_back(std::move(slow));
    engines.push_back(std::make_unique<FakeEngine>("fast"));
    EngineDirectory directory(std::move(engines), &FakeEngine::GetClock);
    directory.TestAll();

    const TimePoint now = TimePoint() + std::chrono::hours(1);
    const TimePoint later = now + EngineDirectory::PENALTY;
    const std::vector<std::string> bySpeed = {"fast", "slow"};
    const std::vector<std::string> turned = {"slow", "fast"};
    EXPECT_EQ(turned, GetNames(directory.FindAll(RLE)));  // as they were put in
    EXPECT_EQ(bySpeed, GetNames(directory.ListForAuto(RLE, now)));
    directory.PutLast("fast", RLE, now);
    EXPECT_EQ(turned, GetNames(directory.ListForAuto(RLE, now)));
    EXPECT_EQ(turned, GetNames(directory.ListForAuto(RLE, later - Duration(1))));
    EXPECT_EQ(bySpeed, GetNames(directory.ListForAuto(RLE, later)));
    EXPECT_EQ(bySpeed, GetNames(directory.ListForAuto(JPEG_LOSSLESS, now)));

    directory.PutLast("slow", RLE, now);  // all have failed: the image may be to blame
    EXPECT_EQ(bySpeed, GetNames(directory.ListForAuto(RLE, now)));
  }
}
