// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Comparison.h"

#include "Transcoding/FakeEngine.h"
#include "Transcoding/ImageFile.h"
#include "Tuning/Json.h"

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

    const std::string RESOURCE = "0123abcd-4567ef01-89abcdef-00000000-ffffffff";

    // A body with the resource, and with more keys: ", \"Targets\": []"
    std::string MakeBody(const std::string& more)
    {
      return R"({"Resource": ")" + RESOURCE + "\"" + more + "}";
    }

    std::string FindBadKey(const std::string& body)
    {
      try
      {
        ComparisonRequest::Read(body);
        return "none";
      }
      catch (const SettingError& error)
      {
        EXPECT_FALSE(error.allowed.empty()) << body;
        return error.key;
      }
    }

    // Engines as they are set up before the self-test
    class ComparisonTest : public testing::Test
    {
    protected:
      std::unique_ptr<Comparison> Make(std::size_t instances)
      {
        Engines engines;
        engines.push_back(std::move(first_));
        engines.push_back(std::move(second_));
        directory_ = std::make_unique<EngineDirectory>(std::move(engines));
        directory_->TestAll();
        ComparisonRequest request;
        request.targets = {JPEG_LOSSLESS, RLE};
        std::vector<std::string> names;

        for (std::size_t i = 0; i < instances; i++)
        {
          names.push_back(std::to_string(i));
        }

        return std::make_unique<Comparison>(*directory_, request, names,
                                            [this](const std::string& instance)
                                            {
                                              loaded_.push_back(instance);
                                              return load_(instance);
                                            });
      }

      // The results
      static Json::Value Finish(Comparison& job)
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
    };
  }

  TEST_F(ComparisonTest, EachEngineHasEachInstanceInEachTarget)
  {
    const auto job = Make(3);
    const Json::Value results = Finish(*job);

    ASSERT_EQ(4U, results.size());
    EXPECT_EQ("first", results[0]["Engine"].asString());
    EXPECT_EQ(JPEG_LOSSLESS, results[0]["TransferSyntax"].asString());
    EXPECT_EQ(3, results[0]["Transcoded"].asInt());
    EXPECT_TRUE(results[0]["Lossless"].asBool());
    EXPECT_EQ(0, results[0]["MaximumError"].asDouble());
    EXPECT_GT(results[0]["EncodeBytesPerSecond"].asDouble(), 0);
    EXPECT_GT(results[0]["DecodeBytesPerSecond"].asDouble(), 0);
    EXPECT_NEAR(1, results[0]["Ratio"].asDouble(), 0.2);
    EXPECT_FALSE(results[0].isMember("Reason"));
    EXPECT_EQ(3, results[1]["Declined"].asInt());
    EXPECT_EQ("does not write this transfer syntax", results[1]["Reason"].asString());

    // It only encodes, and another engine decodes that
    EXPECT_EQ("second", results[3]["Engine"].asString());
    EXPECT_EQ(RLE, results[3]["TransferSyntax"].asString());
    EXPECT_TRUE(results[3]["Lossless"].asBool());
    EXPECT_GT(results[3]["DecodeBytesPerSecond"].asDouble(), 0);

    job->Reset();
    EXPECT_EQ(0, job->GetProgress());
    EXPECT_EQ(0, job->GetContent()["Results"][0]["Transcoded"].asInt());
    EXPECT_EQ(3, Finish(*job)[0]["Transcoded"].asInt());
  }

  TEST_F(ComparisonTest, OneInstanceIsLoadedAtATimeAndOnceAndAMissingEngineSaysWhy)
  {
    second_->problem = "its program is missing";
    const auto job = Make(2);

    for (int pair = 0; pair < 4; pair++)
    {
      EXPECT_EQ(0, job->GetContent()["FinishedInstances"].asInt());
      EXPECT_TRUE(job->Step());
    }

    EXPECT_EQ((std::vector<std::string>{"0"}), loaded_);
    EXPECT_EQ(1, job->GetContent()["FinishedInstances"].asInt());
    EXPECT_EQ(0.5, job->GetProgress());

    const Json::Value missing = Finish(*job)[3];
    EXPECT_EQ("not available: its program is missing", missing["Reason"].asString());
    EXPECT_EQ((std::vector<std::string>{"0", "1"}), loaded_);
    EXPECT_EQ(2, job->GetContent()["FinishedInstances"].asInt());
    EXPECT_EQ(1.0, job->GetProgress());
  }

  TEST_F(ComparisonTest, WrongPixelsAreNotLossless)
  {
    // As the self-test would find them, too, they begin when it is over
    FakeEngine* const second = second_.get();
    const auto job = Make(1);
    second->mask = 0xff;
    const Json::Value result = Finish(*job)[3];
    EXPECT_EQ(1, result["Transcoded"].asInt());
    EXPECT_TRUE(result.isMember("Lossless"));
    EXPECT_FALSE(result["Lossless"].asBool());
    EXPECT_GT(result["MaximumError"].asDouble(), 0);
    EXPECT_FALSE(result["Reason"].asString().empty());
  }

  TEST_F(ComparisonTest, WhatCannotBeDecodedIsNotCalledLossless)
  {
    FakeEngine* const first = first_.get();
    const auto job = Make(2);

    for (int pair = 0; pair < 4; pair++)
    {
      job->Step();
    }

    EXPECT_TRUE(job->GetContent()["Results"][3]["Lossless"].asBool());
    first->Fails("it has crashed");
    const Json::Value result = Finish(*job)[3];
    EXPECT_EQ(2, result["Transcoded"].asInt());
    EXPECT_FALSE(result.isMember("Lossless"));
    EXPECT_EQ("not decoded: first: it has crashed", result["Reason"].asString());
  }

  TEST_F(ComparisonTest, WhatIsStoredCompressedIsEncodedFromItsPixels)
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
  }

  TEST_F(ComparisonTest, WhatCannotBeReadIsDeclinedWithTheReason)
  {
    load_ = [](const std::string& instance)
    {
      if (instance == "1")
      {
        throw std::runtime_error("deleted");
      }

      return instance == "0" ? ImageFile().MakeHeader() : MakeFile(instance);
    };

    const auto job = Make(3);
    const Json::Value results = Finish(*job);
    EXPECT_EQ(1, results[0]["Transcoded"].asInt());
    EXPECT_EQ(2, results[0]["Declined"].asInt());
    EXPECT_EQ("not in the store any more", results[0]["Reason"].asString());
  }

  TEST_F(ComparisonTest, OfALongSeriesTwentyAreTakenFromItsWholeLength)
  {
    const auto job = Make(60);
    EXPECT_EQ(20, job->GetContent()["Instances"].asInt());
    Finish(*job);
    ASSERT_EQ(20U, loaded_.size());
    EXPECT_EQ("3", loaded_[1]);
    EXPECT_EQ("57", loaded_.back());
  }

  TEST(ComparisonRequest, TheResourceIsEnoughAndTargetsGoByUidOrByNameAndEachOnce)
  {
    using Targets = std::vector<std::string>;
    const ComparisonRequest request = ComparisonRequest::Read(MakeBody(""));
    EXPECT_EQ(RESOURCE, request.resource);
    EXPECT_EQ(
        (Targets{"1.2.840.10008.1.2.4.57", JPEG_LOSSLESS, JPEG_LS, "1.2.840.10008.1.2.4.90", RLE}),
        request.targets);
    EXPECT_EQ(90U, request.lossyQuality);
    const std::string more =
        R"(, "Targets": ["RLELossless", "1.2.840.10008.1.2.4.70", "1.2.840.10008.1.2.5"])";
    EXPECT_EQ((Targets{JPEG_LOSSLESS, RLE}), ComparisonRequest::Read(MakeBody(more)).targets);
  }

  TEST(ComparisonRequest, TheBadKeyIsNamed)
  {
    EXPECT_EQ("", FindBadKey("[]"));
    EXPECT_EQ("", FindBadKey(""));
    EXPECT_EQ("Resource", FindBadKey("{}"));
    EXPECT_EQ("Resource", FindBadKey(R"({"Resource": "../patients"})"));
    EXPECT_EQ("Targets", FindBadKey(MakeBody(R"(, "Targets": [])")));
    EXPECT_EQ("Targets", FindBadKey(MakeBody(R"(, "Targets": ["1.2.3"])")));
    EXPECT_EQ("Targets", FindBadKey(MakeBody(R"(, "Targets": "RLELossless")")));
    EXPECT_EQ("LossyQuality", FindBadKey(MakeBody(R"(, "LossyQuality": 101)")));
    EXPECT_EQ("Target", FindBadKey(MakeBody(R"(, "Target": [])")));
    EXPECT_EQ("Synchronous", FindBadKey(MakeBody(R"(, "Synchronous": true)")));
    EXPECT_EQ("none", FindBadKey(MakeBody(R"(, "LossyQuality": 1)")));
  }
}
