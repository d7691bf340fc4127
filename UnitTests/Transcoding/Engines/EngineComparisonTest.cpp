// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/EngineComparison.h"

#include "Transcoding/FakeEngine.h"
#include "Transcoding/ImageFile.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace OrthancPerf
{
  namespace
  {
    // What the file of an instance is; the instances are "0", "1", ...
    std::string MakeFile(const std::string& instance)
    {
      ImageFile image;
      image.rows = 16;
      image.columns = 16;
      image.FillWithNoise(static_cast<std::uint32_t>(std::stoul(instance)));
      return image.Make();
    }


    ComparisonPlan MakePlan(std::size_t instances)
    {
      ComparisonPlan plan;
      plan.targets = {JPEG_LOSSLESS, RLE};
      plan.engines = {"first", "second"};

      for (std::size_t i = 0; i < instances; i++)
      {
        plan.instances.push_back(std::to_string(i));
      }

      return plan;
    }


    struct RecordingObserver : public ITranscodingObserver
    {
      std::vector<TranscodingReport> reports;

      void OnTranscoding(const TranscodingReport& report) noexcept override
      {
        reports.push_back(report);
      }
    };


    // Engines as they are set up before the self-test
    class EngineComparisonTest : public testing::Test
    {
    protected:
      EngineComparison Make(ComparisonPlan plan)
      {
        std::vector<InstalledEngine> engines(2);
        engines[0].engine = std::move(first_);
        engines[1].engine = std::move(second_);
        directory_ = std::make_unique<EngineDirectory>(std::move(engines));
        directory_->TestAll();

        return EngineComparison(
            *directory_, std::move(plan),
            [this](const std::string& instance)
            {
              loaded_.push_back(instance);
              return load_(instance);
            },
            observer_);
      }

      static void Finish(EngineComparison& comparison)
      {
        while (!comparison.IsDone())
        {
          comparison.Step();
        }
      }

      std::unique_ptr<FakeEngine> first_ = std::make_unique<FakeEngine>("first");
      std::unique_ptr<FakeEngine> second_ =
          std::make_unique<FakeEngine>("second", std::set<std::string>{RLE});
      std::unique_ptr<EngineDirectory> directory_;
      std::function<std::string(const std::string&)> load_ = MakeFile;
      std::vector<std::string> loaded_;
      RecordingObserver observer_;
    };
  }


  TEST_F(EngineComparisonTest, EachEngineHasEachInstanceInEachTarget)
  {
    EngineComparison comparison = Make(MakePlan(3));
    Finish(comparison);

    const std::vector<EngineTotals>& totals = comparison.GetTotals();
    ASSERT_EQ(4U, totals.size());
    EXPECT_EQ("first", totals[0].engine);
    EXPECT_EQ(JPEG_LOSSLESS, totals[0].target);
    EXPECT_EQ(3U, totals[0].transcoded);
    EXPECT_EQ(3U, totals[0].same);
    EXPECT_EQ(0U, totals[0].different);
    EXPECT_EQ(0, totals[0].largestError);
    EXPECT_EQ(3 * MakeFile("0").size(), totals[0].storedSize);
    EXPECT_EQ(3 * MakeFile("0").size(), totals[0].uncompressedSize);
    EXPECT_TRUE(totals[0].reasons.empty());
  }


  TEST_F(EngineComparisonTest, OneInstanceIsLoadedAtATimeAndOnce)
  {
    EngineComparison comparison = Make(MakePlan(2));

    for (int i = 0; i < 4; i++)
    {
      comparison.Step();
    }

    EXPECT_EQ((std::vector<std::string>{"0"}), loaded_);
    EXPECT_EQ(1U, comparison.CountFinishedInstances());
    EXPECT_EQ(0.5, comparison.GetProgress());

    Finish(comparison);
    EXPECT_EQ((std::vector<std::string>{"0", "1"}), loaded_);
    EXPECT_EQ(2U, comparison.CountFinishedInstances());
    EXPECT_EQ(1.0, comparison.GetProgress());
  }


  TEST_F(EngineComparisonTest, AnEngineThatOnlyEncodesIsDecodedByAnother)
  {
    EngineComparison comparison = Make(MakePlan(1));
    Finish(comparison);

    const EngineTotals& totals = comparison.GetTotals()[3];
    EXPECT_EQ("second", totals.engine);
    EXPECT_EQ(RLE, totals.target);
    EXPECT_EQ(1U, totals.same);
    EXPECT_EQ((std::set<std::string>{"first"}), totals.decoders);
  }


  TEST_F(EngineComparisonTest, WhatAnEngineDoesNotWriteIsDeclinedWithTheReason)
  {
    EngineComparison comparison = Make(MakePlan(2));
    Finish(comparison);

    const EngineTotals& totals = comparison.GetTotals()[1];
    EXPECT_EQ(2U, totals.declined);
    EXPECT_EQ(2U, totals.reasons.at("does not write this transfer syntax"));
  }


  TEST_F(EngineComparisonTest, AMissingEngineSaysWhyItIsMissing)
  {
    second_->HasProblem("its program is missing");
    EngineComparison comparison = Make(MakePlan(1));
    Finish(comparison);
    EXPECT_EQ(1U, comparison.GetTotals()[3].reasons.at("not available: its program is missing"));
  }


  TEST_F(EngineComparisonTest, WrongPixelsAreNotLossless)
  {
    // As the self-test would find them, too, they begin when it is over
    FakeEngine* const second = second_.get();
    EngineComparison comparison = Make(MakePlan(1));
    second->Spoils(0xff);
    Finish(comparison);

    const EngineTotals& totals = comparison.GetTotals()[3];
    EXPECT_EQ(1U, totals.transcoded);
    EXPECT_EQ(1U, totals.different);
    EXPECT_EQ(0U, totals.same);
    EXPECT_GT(totals.largestError, 0);
    EXPECT_FALSE(totals.reasons.empty());
  }


  TEST_F(EngineComparisonTest, WhatIsStoredCompressedIsEncodedFromItsPixels)
  {
    FakeEngine encoder("encoder");
    load_ = [&encoder](const std::string& instance)
    {
      const std::string file = MakeFile(instance);
      return encoder.Transcode(file.data(), file.size(), {RLE}).file;
    };

    EngineComparison comparison = Make(MakePlan(1));
    Finish(comparison);
    const EngineTotals& totals = comparison.GetTotals()[2];
    EXPECT_EQ(RLE, totals.target);
    EXPECT_EQ(1U, totals.transcoded);
    EXPECT_EQ(1U, totals.same);
    EXPECT_NE(totals.storedSize, totals.uncompressedSize);
  }


  TEST_F(EngineComparisonTest, WhatCannotBeReadIsLeftOut)
  {
    load_ = [](const std::string& instance)
    {
      if (instance == "0")
      {
        throw std::runtime_error("deleted");
      }

      return instance == "1" ? ImageFile().MakeHeader() : MakeFile(instance);
    };

    EngineComparison comparison = Make(MakePlan(3));
    Finish(comparison);
    EXPECT_EQ(1U, comparison.GetTotals()[0].transcoded);
    EXPECT_EQ(1U, comparison.GetUnreadable().at("not in the store any more"));
    EXPECT_EQ(2U, comparison.GetUnreadable().size());
  }


  TEST_F(EngineComparisonTest, EachEncodingIsReportedAndNoneThatWasNotTried)
  {
    EngineComparison comparison = Make(MakePlan(2));
    Finish(comparison);

    // "second" writes one of the two targets only
    ASSERT_EQ(6U, observer_.reports.size());
    EXPECT_EQ("first", observer_.reports[0].engine);
    EXPECT_EQ(JPEG_LOSSLESS, observer_.reports[0].target);
    EXPECT_EQ(TranscodingOutcome::Transcoded, observer_.reports[0].outcome);
    EXPECT_EQ(MakeFile("0").size(), observer_.reports[0].sourceSize);
    EXPECT_GT(observer_.reports[0].targetSize, 0U);
  }


  TEST_F(EngineComparisonTest, AfterAResetItBeginsAnew)
  {
    EngineComparison comparison = Make(MakePlan(2));
    Finish(comparison);
    comparison.Reset();
    EXPECT_EQ(0, comparison.GetProgress());
    EXPECT_EQ(0U, comparison.GetTotals()[0].transcoded);

    Finish(comparison);
    EXPECT_EQ(2U, comparison.GetTotals()[0].transcoded);
  }
}
