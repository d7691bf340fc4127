// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"
#include "Tuning/Json.h"

#include <memory>
#include <set>

namespace OrthancPerf
{
  namespace
  {
    class ServerRulesTest : public RuleTest
    {
    protected:
      ServerRulesTest()
      {
        evidence_.facts.hasDatabasePlugin = true;
      }

      std::set<std::string> ListChecklist() const
      {
        std::set<std::string> ids;

        for (const Finding& finding : JudgeAll())
        {
          ids.insert(finding.id);
        }

        return ids;
      }

      Json::Value& configuration_ = evidence_.facts.configuration;
    };
  }

  TEST_F(ServerRulesTest, ArchivesThatAreDeflatedForLongAreToBeDeflatedLess)
  {
    evidence_.deflated[0] = {4, 6};
    const std::vector<Finding> findings = JudgeAll("answer-compression");
    ASSERT_EQ(1U, findings.size());
    EXPECT_EQ(ToText(MakeOption("Answers", "ArchiveLevel", 1)),
              ToText(findings[0].remedy.document));
    EXPECT_DOUBLE_EQ(2, *findings[0].cost.gain);  // 3 of 6 seconds
    EXPECT_DOUBLE_EQ(0.5, findings[0].cost.shareOfIngestTime);

    evidence_.deflated[0] = {4, 40};
    EXPECT_TRUE(JudgeAll().empty());
    evidence_.deflated[0] = {0.5, 0.6};
    EXPECT_TRUE(JudgeAll().empty());
  }

  TEST_F(ServerRulesTest, FilesThatAreSentAsGzipAreToBeCompressedLess)
  {
    evidence_.deflated[1] = {4, 1};  // the first request is not over
    EXPECT_TRUE(JudgeAll().empty());

    evidence_.deflated[1] = {4, 3};
    const std::vector<Finding> findings = JudgeAll("answer-compression");
    ASSERT_EQ(1U, findings.size());
    EXPECT_EQ(ToText(MakeOption("Answers", "HttpLevel", 1)), ToText(findings[0].remedy.document));
    EXPECT_DOUBLE_EQ(4, *findings[0].cost.gain);

    evidence_.tuning.answers.httpLevel = 6;
    EXPECT_TRUE(JudgeAll().empty());
  }

  TEST_F(ServerRulesTest, ArchivesAndGzipTogetherAreOneFinding)
  {
    evidence_.deflated[0] = {4, 6};
    evidence_.deflated[1] = {4, 4};
    const Finding finding = Judge("answer-compression");
    EXPECT_EQ(1, finding.remedy.document["Answers"]["ArchiveLevel"].asInt());
    EXPECT_EQ(1, finding.remedy.document["Answers"]["HttpLevel"].asInt());
    EXPECT_DOUBLE_EQ(8, finding.evidence["DeflateTime"].asDouble());
    EXPECT_DOUBLE_EQ(0.8, finding.evidence["DeflateShare"].asDouble());
  }

  TEST_F(ServerRulesTest, ALargeStoreNeedsAChecklist)
  {
    evidence_.facts.storedInstances = 99'999;
    EXPECT_TRUE(ListChecklist().empty());
    evidence_.facts.storedInstances = 100'000;

    for (const char* const version : {"1.10.1", "1.12.7", "1.13.0"})
    {
      evidence_.facts.orthancVersion = version;
      EXPECT_EQ((std::set<std::string>{"storage-access-on-find"}), ListChecklist());
    }

    // Files that are read for answers are read for queries since 1.12.5
    configuration_["StorageAccessOnFind"] = "Answers";
    evidence_.facts.orthancVersion = "1.12.4";
    EXPECT_EQ(0U, ListChecklist().count("storage-access-on-find"));
    evidence_.facts.orthancVersion = "1.12.5";
    EXPECT_EQ(1U, ListChecklist().count("storage-access-on-find"));
    configuration_["PostgreSQL"] = false;  // a section that is none
    EXPECT_EQ(1U, ListChecklist().size());
  }

  TEST_F(ServerRulesTest, SlowLookupsNeedTheIndexOfANewerRelease)
  {
    ServerFacts& facts = evidence_.facts;
    facts.storedInstances = 20'000;
    facts.lookupTime = 0.014;
    facts.indexFile = "/var/lib/orthanc/db-v6/index";
    facts.orthancVersion = "1.12.9";
    facts.hasDatabasePlugin = false;
    const std::vector<Finding> findings = JudgeAll();
    ASSERT_EQ(1U, findings.size());
    EXPECT_EQ("sqlite-lookup-index", findings[0].id);
    EXPECT_EQ("SQLite takes 14 ms to find an image by its UID", findings[0].title);
    EXPECT_EQ("1.12.9", findings[0].evidence["Release"].asString());
    EXPECT_NE(std::string::npos,
              findings[0].remedy.text.find("sqlite3 '/var/lib/orthanc/db-v6/index' '"));
    facts.orthancVersion = "1.12.10";
    EXPECT_TRUE(ListChecklist().empty());
    facts.orthancVersion = "1.12.9";
    facts.lookupTime = 0.002;
    EXPECT_TRUE(ListChecklist().empty());
    facts.lookupTime.reset();
    EXPECT_TRUE(ListChecklist().empty());
    facts.lookupTime = 0.014;
    facts.hasDatabasePlugin = true;
    EXPECT_TRUE(ListChecklist().empty());
  }

  TEST_F(ServerRulesTest, AStoreOfManyInstancesNeedsAnotherDatabase)
  {
    evidence_.facts.hasDatabasePlugin = false;
    evidence_.facts.storedInstances = 49'999;
    EXPECT_TRUE(ListChecklist().empty());
    evidence_.facts.storedInstances = 50'000;
    EXPECT_EQ(1U, ListChecklist().count("sqlite-large"));
    evidence_.facts.hasDatabasePlugin = true;
    EXPECT_TRUE(ListChecklist().empty());
  }

  TEST_F(ServerRulesTest, WhatTheChecklistProposesEndsItsFindings)
  {
    evidence_.facts.storedInstances = 100'000;
    evidence_.facts.orthancVersion = "1.10.1";
    configuration_["PostgreSQL"]["EnableStorage"] = true;
    configuration_["StorageCompression"] = true;
    const std::vector<Finding> findings = JudgeAll();
    EXPECT_EQ(3U, findings.size());

    for (const Finding& finding : findings)
    {
      EXPECT_EQ("Configuration", finding.remedy.kind);

      for (const std::string& option : finding.remedy.document.getMemberNames())
      {
        configuration_[option] = finding.remedy.document[option];
      }
    }

    EXPECT_TRUE(ListChecklist().empty());
  }

  TEST(ServerFacts, CountsTheTasksThatWantAProcessor)
  {
    EXPECT_GE(ReadRunnableTasks(), 0);
    EXPECT_LT(ReadRunnableTasks(), 1e4);
  }

  TEST(ServerFacts, ReadsTheMemoryOfThisProcess)
  {
    constexpr std::size_t SIZE = std::size_t{100} << 20;
    const auto block = std::make_unique<char[]>(SIZE);

    for (std::size_t i = 0; i < SIZE; i += 4096)
    {
      block[i] = static_cast<char>(i);
    }

    const std::uint64_t anonymous = ReadProcessMemory("RssAnon:");
    EXPECT_LE(SIZE, anonymous);
    EXPECT_LE(anonymous, ReadProcessMemory("VmHWM:"));
    EXPECT_EQ(0U, ReadProcessMemory("NoSuchKey:"));
  }

  TEST(ServerFacts, ComparesReleases)
  {
    const OrthancRelease release = {1, 12, 2};
    ServerFacts facts;

    for (const char* older : {"1.12.1", "1.10.1", "0.9.6", "1.9.7"})
    {
      facts.orthancVersion = older;
      EXPECT_TRUE(facts.IsOlderThan(release)) << older;
    }

    for (const char* newer : {"1.12.2", "1.12.10", "2.0.0", "mainline", "", "1.12"})
    {
      facts.orthancVersion = newer;
      EXPECT_FALSE(facts.IsOlderThan(release)) << newer;
    }
  }

  TEST(ServerFacts, ReadsTheKernelsLimits)
  {
    const KernelLimits limits = KernelLimits::Read();
    EXPECT_GE(limits.largestReceiveBuffer, 4096U);
    EXPECT_GE(limits.largestSendBuffer, 4096U);
  }
}
