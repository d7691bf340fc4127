// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/EngineDirectory.h"
#include "Transcoding/Engines/SampleImage.h"
#include "Transcoding/FakeEngine.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    using State = SyntaxVerdict::State;

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
    encoder.Spoils(1);
    EXPECT_EQ(State::Works, Judge(encoder, RLE).state);
  }

  TEST(SelfTest, FailuresAndWrongResultsSwitchAnEngineOff)
  {
    FakeEngine spoiling("spoiling");
    spoiling.Spoils(1);
    ExpectSwitchedOff(spoiling, RLE, "the pixels differ");
    EXPECT_EQ(State::Works, Judge(spoiling, EXPLICIT_LITTLE_ENDIAN).state);

    FakeEngine engine("fake");
    engine.Changes([](DataSetEditor& editor) { editor.Set(0x00080018, "UI", "1.2.3"); });
    ExpectSwitchedOff(engine, RLE, "wrote another SOP Instance UID");
    engine.Changes([](DataSetEditor& editor) { editor.Set(0x00020010, "UI", JPEG_LS); });
    ExpectSwitchedOff(engine, RLE, "wrote another transfer syntax");
    engine.Writes("nonsense");
    ExpectSwitchedOff(engine, RLE, "wrote an unreadable file: not DICOM");
    engine.Fails("crashed (SIGSEGV)");
    ExpectSwitchedOff(engine, RLE, "image of 8 bits: crashed (SIGSEGV)");
  }

  TEST(SelfTest, LossyImagesMayDifferALittle)
  {
    FakeEngine engine("fake");
    engine.Spoils(0x08);
    EXPECT_EQ(State::Works, Judge(engine, JPEG_BASELINE).state);

    engine.Changes(
        [](DataSetEditor& editor)
        {
          if (editor.Find(0x00020010)->GetText() == JPEG_BASELINE)
          {
            const std::string file = editor.Write();
            const ImageDescription image = DescribeImage(file.data(), file.size());
            const std::string pixels(image.GetNativeSize().value(), '\0');
            editor.SetEncoded(TAG_PIXEL_DATA,
                              MakePixelElement(MakeFakeFrames(image, JPEG_BASELINE, pixels)));
          }
        });
    ExpectSwitchedOff(engine, JPEG_BASELINE, "on average");
  }

  TEST(SelfTest, AnEngineWithAProblemIsNotTested)
  {
    FakeEngine engine("fake");
    engine.HasProblem("its program is missing");
    const EngineVerdict verdict = TestEngine(engine, &Clock::now);
    EXPECT_FALSE(verdict.isAvailable);
    EXPECT_EQ("its program is missing", verdict.reason);
    EXPECT_EQ(State::Untested, verdict.syntaxes.front().state);
    EXPECT_EQ(0, engine.GetCalls());
  }

  TEST(SelfTest, ImagesOfManyKindsAreShown)
  {
    const FakeEngine engine("fake");
    Judge(engine, RLE);
    // Each is written and read, and the engine asked whether it reads at all; the large one is
    // written twice, for the speed
    EXPECT_EQ(3 * static_cast<int>(GetSelfTestShapes().size()) + 2, engine.GetCalls());
  }
}
