// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/AutoEngine.h"

#include "Transcoding/Engines/SampleImage.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    const std::vector<std::string> AVAILABLE = {"a", "b"};
    constexpr std::size_t SIZE = 1000;


    TranscodingKind MakeKind(std::uint16_t bits)
    {
      TranscodingKind kind;
      kind.bitsAllocated = bits;
      return kind;
    }


    TranscodingReport Take(const std::string& engine, Duration duration)
    {
      TranscodingReport report;
      report.engine = engine;
      report.outcome = TranscodingOutcome::Transcoded;
      report.duration = duration;
      report.sourceSize = SIZE;
      return report;
    }


    // "fast" turns out faster
    void Teach(AutoEngine& engine, const TranscodingKind& kind, const std::string& fast)
    {
      for (int i = 0; i < 4; i++)
      {
        const std::string chosen = engine.Choose(kind, AVAILABLE, SIZE, TimePoint()).front();
        engine.Learn(kind, {Take(chosen, Duration(chosen == fast ? 10 : 1000))}, TimePoint());
      }
    }
  }


  TEST(AutoEngine, EachKindHasItsOwnFastest)
  {
    AutoEngine engine;
    Teach(engine, MakeKind(8), "a");
    Teach(engine, MakeKind(16), "b");
    EXPECT_EQ("a", engine.Choose(MakeKind(8), AVAILABLE, SIZE, TimePoint()).front());
    EXPECT_EQ("b", engine.Choose(MakeKind(16), AVAILABLE, SIZE, TimePoint()).front());
  }


  TEST(AutoEngine, ChoicesAreShownWithWhatTheyRestOn)
  {
    AutoEngine engine;
    Teach(engine, MakeKind(8), "b");
    engine.Choose(MakeKind(8), AVAILABLE, SIZE, TimePoint());

    const std::vector<AutoChoice> choices = engine.GetChoices();
    ASSERT_EQ(1u, choices.size());
    EXPECT_EQ("b", choices[0].engine);
    EXPECT_EQ("the fastest of 2 measured", choices[0].reason);
    ASSERT_EQ(2u, choices[0].figures.size());
    EXPECT_EQ(2u, choices[0].figures[0].tries);
    EXPECT_DOUBLE_EQ(1e-9, choices[0].figures[0].secondsPerByte);
  }


  TEST(AutoEngine, KnowsABoundedNumberOfKinds)
  {
    AutoEngine engine;
    Teach(engine, MakeKind(1), "b");

    for (std::uint16_t i = 0; i < 2 * AutoEngine::MAXIMUM_KINDS; i++)
    {
      engine.Choose(MakeKind(static_cast<std::uint16_t>(2 + i)), AVAILABLE, SIZE, TimePoint());
      engine.Choose(MakeKind(1), AVAILABLE, SIZE, TimePoint());  // what is in use stays
    }

    EXPECT_EQ(AutoEngine::MAXIMUM_KINDS, engine.GetChoices().size());
    EXPECT_EQ("b", engine.Choose(MakeKind(1), AVAILABLE, SIZE, TimePoint()).front());
  }


  TEST(AutoEngine, AKindIsWhatMakesTheSpeedDiffer)
  {
    SampleShape shape;
    const std::string grey = MakeSampleImage(shape);
    shape.samplesPerPixel = 3;
    shape.frames = 2;
    const std::string colour = MakeSampleImage(shape);

    const TranscodingKind first =
        TranscodingKind::Of(DescribeImage(grey.data(), grey.size()), "1.2.840.10008.1.2.5");
    const TranscodingKind second =
        TranscodingKind::Of(DescribeImage(colour.data(), colour.size()), "1.2.840.10008.1.2.5");

    EXPECT_FALSE(first == second);
    EXPECT_EQ("MONOCHROME2", first.colour);
    EXPECT_FALSE(first.isMultiFrame);
    EXPECT_EQ("RGB", second.colour);
    EXPECT_EQ(3, second.samplesPerPixel);
    EXPECT_TRUE(second.isMultiFrame);
  }


  TEST(AutoEngine, AStrangersTextIsNoColour)
  {
    ImageDescription image;
    image.photometricInterpretation = "DOE^JOHN";
    EXPECT_EQ("", TranscodingKind::Of(image, "").colour);
  }
}
