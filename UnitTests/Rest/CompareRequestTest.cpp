// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/CompareRequest.h"

#include "Tuning/SettingError.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    const std::string RESOURCE = "0123abcd-4567ef01-89abcdef-00000000-ffffffff";
    const std::vector<std::string> ENGINES = {"native", "dcmtk", "gdcm"};


    // A body with the resource, and with more keys: ", \"Targets\": []"
    std::string MakeBody(const std::string& more)
    {
      return R"({"Resource": ")" + RESOURCE + "\"" + more + "}";
    }


    CompareRequest Read(const std::string& more)
    {
      return ReadCompareRequest(MakeBody(more), ENGINES);
    }


    std::string FindBadKey(const std::string& body)
    {
      try
      {
        ReadCompareRequest(body, ENGINES);
        return "none";
      }
      catch (const SettingError& error)
      {
        EXPECT_FALSE(error.GetAllowed().empty()) << body;
        return error.GetKey();
      }
    }
  }


  TEST(CompareRequest, TheResourceIsEnough)
  {
    const CompareRequest request = Read("");
    EXPECT_EQ(RESOURCE, request.resource);
    EXPECT_EQ(ENGINES, request.engines);
    EXPECT_EQ(20U, request.maximumInstances);
  }


  TEST(CompareRequest, AllThatCompressWithoutLossAreTheDefaultTargets)
  {
    const std::vector<std::string> expected = {"1.2.840.10008.1.2.4.57", "1.2.840.10008.1.2.4.70",
                                               "1.2.840.10008.1.2.4.80", "1.2.840.10008.1.2.4.90",
                                               "1.2.840.10008.1.2.5"};
    EXPECT_EQ(expected, Read("").targets);
  }


  TEST(CompareRequest, TargetsGoByUidOrByName)
  {
    const std::vector<std::string> expected = {"1.2.840.10008.1.2.5", "1.2.840.10008.1.2.4.70"};
    EXPECT_EQ(expected, Read(R"(, "Targets": ["RLELossless", "1.2.840.10008.1.2.4.70"])").targets);
  }


  TEST(CompareRequest, WhatIsNamedTwiceIsComparedOnce)
  {
    const CompareRequest request =
        Read(R"(, "Targets": ["RLELossless", "1.2.840.10008.1.2.5"], "Engines": ["gdcm", "gdcm"])");
    EXPECT_EQ(1U, request.targets.size());
    EXPECT_EQ(std::vector<std::string>{"gdcm"}, request.engines);
  }


  TEST(CompareRequest, TheBadKeyIsNamed)
  {
    EXPECT_EQ("", FindBadKey("[]"));
    EXPECT_EQ("", FindBadKey(""));
    EXPECT_EQ("Resource", FindBadKey("{}"));
    EXPECT_EQ("Resource", FindBadKey(R"({"Resource": "../patients"})"));
    EXPECT_EQ("Targets", FindBadKey(MakeBody(R"(, "Targets": [])")));
    EXPECT_EQ("Targets", FindBadKey(MakeBody(R"(, "Targets": ["1.2.3"])")));
    EXPECT_EQ("Targets", FindBadKey(MakeBody(R"(, "Targets": "RLELossless")")));
    EXPECT_EQ("Engines", FindBadKey(MakeBody(R"(, "Engines": ["auto"])")));
    EXPECT_EQ("MaximumInstances", FindBadKey(MakeBody(R"(, "MaximumInstances": 0)")));
    EXPECT_EQ("MaximumInstances", FindBadKey(MakeBody(R"(, "MaximumInstances": 1001)")));
    EXPECT_EQ("LossyQuality", FindBadKey(MakeBody(R"(, "LossyQuality": 101)")));
    EXPECT_EQ("Priority", FindBadKey(MakeBody(R"(, "Priority": "high")")));
    EXPECT_EQ("Target", FindBadKey(MakeBody(R"(, "Target": [])")));
  }


  TEST(CompareRequest, NobodyIsLeftWaitingForAnAnswerThatIsAJob)
  {
    EXPECT_EQ("Synchronous", FindBadKey(MakeBody(R"(, "Synchronous": true)")));
    EXPECT_EQ("Asynchronous", FindBadKey(MakeBody(R"(, "Asynchronous": false)")));
    EXPECT_EQ("none", FindBadKey(MakeBody(R"(, "Synchronous": false, "Asynchronous": true)")));
  }


  TEST(CompareRequest, TheChosenInstancesAreFromTheWholeSeries)
  {
    const std::vector<std::string> series = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    EXPECT_EQ((std::vector<std::string>{"0", "3", "6"}), SpreadOut(series, 3));
    EXPECT_EQ(series, SpreadOut(series, 10));
    EXPECT_EQ(series, SpreadOut(series, 1000));
    EXPECT_EQ(std::vector<std::string>{"0"}, SpreadOut(series, 1));
  }
}
