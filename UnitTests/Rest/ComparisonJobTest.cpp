// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/ComparisonJob.h"

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


    CompareRequest MakeRequest()
    {
      CompareRequest request;
      request.targets = {JPEG_LOSSLESS, RLE};
      request.engines = {"first", "second"};
      return request;
    }


    std::vector<std::string> NameInstances(std::size_t count)
    {
      std::vector<std::string> instances;

      for (std::size_t i = 0; i < count; i++)
      {
        instances.push_back(std::to_string(i));
      }

      return instances;
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
    class ComparisonJobTest : public testing::Test
    {
    protected:
      std::unique_ptr<ComparisonJob> Make(std::size_t instances)
      {
        Engines engines;
        engines.push_back(std::move(first_));
        engines.push_back(std::move(second_));
        directory_ = std::make_unique<EngineDirectory>(std::move(engines));
        directory_->TestAll();

        return std::make_unique<ComparisonJob>(
            *directory_, MakeRequest(), NameInstances(instances),
            [this](const std::string& instance)
            {
              loaded_.push_back(instance);
              return load_(instance);
            },
            observer_);
      }

      // The results
      static Json::Value Finish(ComparisonJob& job)
      {
        while (job.Step())
        {
        }

        return job.GetContent()["Results"];
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


  TEST_F(ComparisonJobTest, EachEngineHasEachInstanceInEachTarget)
  {
    const auto job = Make(3);
    const Json::Value results = Finish(*job);

    ASSERT_EQ(4U, results.size());
    EXPECT_EQ("first", results[0]["Engine"].asString());
    EXPECT_EQ(JPEG_LOSSLESS, results[0]["TransferSyntax"].asString());
    EXPECT_EQ(3, results[0]["Transcoded"].asInt());
    EXPECT_EQ(3, results[0]["Compared"].asInt());
    EXPECT_TRUE(results[0]["Lossless"].asBool());
    EXPECT_EQ(0, results[0]["MaximumError"].asDouble());
    EXPECT_EQ(3 * MakeFile("0").size(), results[0]["StoredSize"].asUInt64());
    EXPECT_EQ(3 * MakeFile("0").size(), results[0]["UncompressedSize"].asUInt64());
    EXPECT_TRUE(results[0]["Reasons"].empty());
  }


  TEST_F(ComparisonJobTest, OneInstanceIsLoadedAtATimeAndOnce)
  {
    const auto job = Make(2);

    for (int pair = 0; pair < 4; pair++)
    {
      EXPECT_EQ(0, job->GetContent()["FinishedInstances"].asInt());
      EXPECT_TRUE(job->Step());
    }

    EXPECT_EQ((std::vector<std::string>{"0"}), loaded_);
    EXPECT_EQ(1, job->GetContent()["FinishedInstances"].asInt());
    EXPECT_EQ(0.5, job->GetProgress());

    Finish(*job);
    EXPECT_EQ((std::vector<std::string>{"0", "1"}), loaded_);
    EXPECT_EQ(2, job->GetContent()["FinishedInstances"].asInt());
    EXPECT_EQ(1.0, job->GetProgress());
  }


  TEST_F(ComparisonJobTest, AnEngineThatOnlyEncodesIsDecodedByAnother)
  {
    const auto job = Make(1);
    const Json::Value result = Finish(*job)[3];
    EXPECT_EQ("second", result["Engine"].asString());
    EXPECT_EQ(RLE, result["TransferSyntax"].asString());
    EXPECT_TRUE(result["Lossless"].asBool());
    EXPECT_EQ("first", result["Decoders"][0].asString());
  }


  TEST_F(ComparisonJobTest, WhatAnEngineDoesNotWriteIsDeclinedWithTheReason)
  {
    const auto job = Make(2);
    const Json::Value result = Finish(*job)[1];
    EXPECT_EQ(2, result["Declined"].asInt());
    EXPECT_EQ(2, result["Reasons"]["does not write this transfer syntax"].asInt());
  }


  TEST_F(ComparisonJobTest, AMissingEngineSaysWhyItIsMissing)
  {
    second_->HasProblem("its program is missing");
    const auto job = Make(1);
    const Json::Value result = Finish(*job)[3];
    EXPECT_EQ(1, result["Reasons"]["not available: its program is missing"].asInt());
  }


  TEST_F(ComparisonJobTest, WrongPixelsAreNotLossless)
  {
    // As the self-test would find them, too, they begin when it is over
    FakeEngine* const second = second_.get();
    const auto job = Make(1);
    second->Spoils(0xff);
    const Json::Value result = Finish(*job)[3];
    EXPECT_EQ(1, result["Transcoded"].asInt());
    EXPECT_EQ(1, result["Compared"].asInt());
    EXPECT_FALSE(result["Lossless"].asBool());
    EXPECT_GT(result["MaximumError"].asDouble(), 0);
    EXPECT_FALSE(result["Reasons"].empty());
  }


  TEST_F(ComparisonJobTest, WhatIsStoredCompressedIsEncodedFromItsPixels)
  {
    FakeEngine encoder("encoder");
    load_ = [&encoder](const std::string& instance)
    {
      const std::string file = MakeFile(instance);
      return encoder.Transcode(file.data(), file.size(), {RLE}).file;
    };

    const auto job = Make(1);
    const Json::Value result = Finish(*job)[2];
    EXPECT_EQ(RLE, result["TransferSyntax"].asString());
    EXPECT_EQ(1, result["Transcoded"].asInt());
    EXPECT_TRUE(result["Lossless"].asBool());
    EXPECT_NE(result["StoredSize"], result["UncompressedSize"]);
  }


  TEST_F(ComparisonJobTest, WhatCannotBeReadIsLeftOut)
  {
    load_ = [](const std::string& instance)
    {
      if (instance == "0")
      {
        throw std::runtime_error("deleted");
      }

      return instance == "1" ? ImageFile().MakeHeader() : MakeFile(instance);
    };

    const auto job = Make(3);
    EXPECT_EQ(1, Finish(*job)[0]["Transcoded"].asInt());
    const Json::Value unreadable = job->GetContent()["Unreadable"];
    EXPECT_EQ(1, unreadable["not in the store any more"].asInt());
    EXPECT_EQ(2U, unreadable.size());
  }


  TEST_F(ComparisonJobTest, EachEncodingIsReportedAndNoneThatWasNotTried)
  {
    const auto job = Make(2);
    Finish(*job);

    // "second" writes one of the two targets only
    ASSERT_EQ(6U, observer_.reports.size());
    EXPECT_EQ("first", observer_.reports[0].engine);
    EXPECT_EQ(JPEG_LOSSLESS, observer_.reports[0].target);
    EXPECT_EQ(TranscodingOutcome::Transcoded, observer_.reports[0].outcome);
    EXPECT_EQ(MakeFile("0").size(), observer_.reports[0].sourceSize);
    EXPECT_GT(observer_.reports[0].targetSize, 0U);
  }


  TEST_F(ComparisonJobTest, AfterAResetItBeginsAnew)
  {
    const auto job = Make(2);
    Finish(*job);
    job->Reset();
    EXPECT_EQ(0, job->GetProgress());
    EXPECT_EQ(0, job->GetContent()["Results"][0]["Transcoded"].asInt());
    EXPECT_EQ(2, Finish(*job)[0]["Transcoded"].asInt());
  }


  TEST_F(ComparisonJobTest, ReasonsAreBoundedWhateverCodecsSay)
  {
    FakeEngine* const second = second_.get();
    const auto job = Make(20);

    for (int i = 0; i < 20; i++)
    {
      second->Fails("reason " + std::to_string(i));

      for (int pair = 0; pair < 4; pair++)
      {
        job->Step();
      }
    }

    const Json::Value result = job->GetContent()["Results"][3];
    EXPECT_EQ(20, result["Failed"].asInt());
    EXPECT_FALSE(result.isMember("EncodeTime"));
    EXPECT_EQ(ComparisonJob::MAXIMUM_REASONS + 1, result["Reasons"].size());
    EXPECT_EQ(20 - ComparisonJob::MAXIMUM_REASONS, result["Reasons"]["other reasons"].asUInt64());
  }
}
