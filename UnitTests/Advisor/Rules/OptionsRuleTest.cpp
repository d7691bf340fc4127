// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    class OptionsRuleTest : public RuleTest
    {
    protected:
      Json::Value& configuration_ = evidence_.facts.configuration;
      std::string& version_ = evidence_.facts.orthancVersion;
    };
  }


  TEST_F(OptionsRuleTest, NamesOptionsThatTheReleaseDoesNotKnowYet)
  {
    configuration_["TranscoderThreadsCount"] = 8;
    configuration_["ZipLoaderThreads"] = 4;
    version_ = "1.12.7";
    const Finding finding = Judge(&JudgeOptions);
    EXPECT_EQ("foreign-options", finding.id);
    EXPECT_EQ("TranscoderThreadsCount", finding.evidence["OfNewerReleases"].asString());
    EXPECT_FALSE(finding.evidence.isMember("OfOlderReleases"));

    version_ = "1.13.0";
    configuration_.removeMember("ZipLoaderThreads");
    EXPECT_FALSE(IsFound(&JudgeOptions));
  }


  TEST_F(OptionsRuleTest, SaysWhatOlderOptionsAreToday)
  {
    configuration_["LoaderThreads"] = 8;
    version_ = "1.12.11";
    EXPECT_FALSE(IsFound(&JudgeOptions));

    version_ = "1.13.0";
    const Finding finding = Judge(&JudgeOptions);
    EXPECT_EQ("LoaderThreads", finding.evidence["OfOlderReleases"].asString());
    EXPECT_EQ(16, finding.remedy.document["StorageLoaderThreadsCount"].asInt());
    EXPECT_EQ(8, finding.remedy.document["SequentialDicomReaderWindowSize"].asInt());

    for (const std::string& name : finding.remedy.document.getMemberNames())
    {
      configuration_[name] = finding.remedy.document[name];
    }

    EXPECT_FALSE(IsFound(&JudgeOptions));
  }


  TEST_F(OptionsRuleTest, WhatOlderConfigurationFilesHaveIsNoWindow)
  {
    version_ = "1.13.0";

    for (const auto& [name, value] : {std::pair("ZipLoaderThreads", 0), {"LoaderThreads", 1}})
    {
      configuration_[name] = value;
      const Json::Value options = Judge(&JudgeOptions).remedy.document;
      EXPECT_EQ(4, options["StorageLoaderThreadsCount"].asInt());
      EXPECT_EQ(4, options["SequentialDicomReaderWindowSize"].asInt());
      configuration_.removeMember(name);
    }

    configuration_["ZipLoaderThreads"] = 40;
    EXPECT_EQ(50, Judge(&JudgeOptions).remedy.document["StorageLoaderThreadsCount"].asInt());
  }


  TEST_F(OptionsRuleTest, AnOrdinaryConfigurationIsFine)
  {
    configuration_["MaximumStorageCacheSize"] = 256;

    for (const char* const version : {"1.10.1", "1.12.7", "1.13.0", "mainline"})
    {
      version_ = version;
      EXPECT_FALSE(IsFound(&JudgeOptions));
    }
  }
}
