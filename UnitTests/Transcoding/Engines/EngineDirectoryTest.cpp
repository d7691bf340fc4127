// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/EngineDirectory.h"

#include "Transcoding/Engines/SampleImage.h"
#include "Transcoding/FakeEngine.h"
#include "Transcoding/PixelComparison.h"

#include <gtest/gtest.h>
#include <set>
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

    SyntaxVerdict Judge(const FakeEngine& engine, const std::string& syntax)
    {
      return TestSyntax(engine, syntax, &Clock::now);
    }

    void ExpectSwitchedOff(const FakeEngine& engine, const std::string& syntax,
                           const std::string& reason)
    {
      const SyntaxVerdict verdict = Judge(engine, syntax);
      EXPECT_EQ(State::SwitchedOff, verdict.state);
      EXPECT_NE(std::string::npos, verdict.reason.find(reason)) << verdict.reason;
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

  TEST(SelfTest, AnEngineThatWritesWhatItShouldWorksAndWhatItDeclinesIsUnsupported)
  {
    FakeEngine engine("fake");
    EXPECT_EQ(State::Works, Judge(engine, RLE).state);
    EXPECT_EQ(State::Works, Judge(engine, JPEG_BASELINE).state);
    EXPECT_EQ(State::Works, Judge(engine, EXPLICIT_LITTLE_ENDIAN).state);
    EXPECT_EQ("", Judge(engine, RLE).reason);
    EXPECT_EQ(State::Unsupported, Judge(engine, JPEG_LS).state);
    engine.Declines("no codec");
    EXPECT_EQ(State::Unsupported, Judge(engine, RLE).state);
    EXPECT_EQ("no codec", Judge(engine, RLE).reason);

    FakeEngine encoder("encoder", {RLE});  // is trusted, as it does not decode
    encoder.mask = 1;
    EXPECT_EQ(State::Works, Judge(encoder, RLE).state);
  }

  TEST(SelfTest, FailuresAndWrongResultsSwitchAnEngineOff)
  {
    FakeEngine spoiling("spoiling");
    spoiling.mask = 1;
    ExpectSwitchedOff(spoiling, RLE, "the pixels differ");
    EXPECT_EQ(State::Works, Judge(spoiling, EXPLICIT_LITTLE_ENDIAN).state);

    FakeEngine engine("fake");
    engine.Changes([](DataSetEditor& editor) { editor.Set(0x00080018, "UI", "1.2.3"); });
    ExpectSwitchedOff(engine, RLE, "wrote another SOP Instance UID");
    engine.Fails("crashed (SIGSEGV)");
    ExpectSwitchedOff(engine, RLE, "image of 8 bits: crashed (SIGSEGV)");
  }

  TEST(SelfTest, LossyImagesMayDifferALittle)
  {
    FakeEngine engine("fake");
    engine.mask = 0x08;
    EXPECT_EQ(State::Works, Judge(engine, JPEG_BASELINE).state);
    engine.Changes(
        [](DataSetEditor& editor)
        {
          if (editor.Find(0x00020010)->GetText() == JPEG_BASELINE)
          {
            const std::string file = editor.Write();
            const ImageDescription image = DescribeFile(file);
            const std::string pixels(image.GetNativeSize().value(), '\0');
            editor.SetEncoded(TAG_PIXEL_DATA,
                              MakePixelElement(MakeFakeFrames(image, JPEG_BASELINE, pixels)));
          }
        });
    ExpectSwitchedOff(engine, JPEG_BASELINE, "on average");
  }

  TEST(SelfTest, ImagesOfManyKindsAreShown)
  {
    const FakeEngine engine("fake");
    Judge(engine, RLE);
    // Each is written and read, and the engine asked whether it reads at all; the large one is
    // written twice, for the speed
    EXPECT_EQ(3 * static_cast<int>(GetSelfTestShapes().size()) + 2, engine.GetCalls());

    for (SampleShape shape : GetSelfTestShapes())
    {
      for (const std::uint32_t frames : {1u, 3u})
      {
        shape.frames = frames;
        const std::string file = MakeSampleImage(shape);
        const ImageDescription image = DescribeFile(file);
        EXPECT_STREQ("", ReceivedFile(file).problem);
        EXPECT_EQ(shape.rows, image.rows);
        EXPECT_EQ(shape.columns, image.columns);
        EXPECT_EQ(shape.bitsAllocated, image.bitsAllocated);
        EXPECT_EQ(shape.bitsStored, image.bitsStored);
        EXPECT_EQ(shape.isSigned ? 1 : 0, image.pixelRepresentation);
        EXPECT_EQ(shape.samplesPerPixel, image.samplesPerPixel);
        EXPECT_EQ(frames, image.frames);
        const std::size_t size = image.GetNativeSize().value();
        EXPECT_EQ(size + size % 2, image.pixelData.size());
        EXPECT_EQ("", FindDifference(image, image)) << shape.name;
        EXPECT_EQ(0, MeasureError(image, image)->mean) << shape.name;
      }
    }

    const std::string file = MakeSampleImage({});
    const std::string_view pixels = DescribeFile(file).pixelData;
    const std::set<unsigned char> values(pixels.begin(), pixels.end() - 1);
    EXPECT_LT(*values.begin(), 10);  // they span the range
    EXPECT_GT(*values.rbegin(), 240);
  }
}
