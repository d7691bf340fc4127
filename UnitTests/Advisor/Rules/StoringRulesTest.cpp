// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    class StoringRulesTest : public RuleTest
    {
    protected:
      static Sample MakeSynced(double sync)
      {
        Sample sample = MakeStored(0.5 + sync);
        sample.phases[5].second = sync;
        return sample;
      }

      static Sample MakeStored(double storage)
      {
        Sample sample = MakeHealthy();
        sample.phases[4].second = storage;
        sample.gap = 50;
        return sample;
      }

      static Sample MakeIndexed(double index, double gap = 50)
      {
        Sample sample = MakeHealthy();
        sample.phases[6].second = index;
        sample.gap = gap;
        return sample;
      }

      static Sample MakeCommitted(double commit)
      {
        Sample sample;
        sample.phases = {{Phase::Receive, 1}, {Phase::Prepare, 1}, {Phase::Commit, commit}};
        sample.gap = 100;
        return sample;
      }
    };

    // Of a fast SQLite (2 ms) and of a slow one, while there was processor time to be had or not
    class ProcessorRuleTest : public StoringRulesTest
    {
    protected:
      void Receive(double ofCalm, int calm, double ofStarved, int starved)
      {
        SetTraffic(MakeIndexed((ofCalm * calm + ofStarved * starved) / (calm + starved)),
                   calm + starved);
        evidence_.calm = MakeTraffic(MakeIndexed(ofCalm), calm);
        evidence_.starved = MakeTraffic(MakeIndexed(ofStarved), starved);
        evidence_.runnableTasks = 9;
      }
    };
  }

  TEST_F(StoringRulesTest, FindsADiskThatIsSlowAtFsync)
  {
    SetTraffic(MakeSynced(12));
    const Finding finding = Judge("fsync");
    EXPECT_EQ("fsync", finding.id);
    EXPECT_TRUE(finding.peer.empty());
    EXPECT_NEAR(0.012, finding.evidence["MeanSync"].asDouble(), 1e-6);
    EXPECT_NEAR(12 / 16.0, finding.evidence["SyncShare"].asDouble(), 1e-6);
    EXPECT_NEAR(4, *finding.cost.gain, 1e-2);
    EXPECT_FALSE(finding.remedy.document["SyncStorageArea"].asBool());
  }

  TEST_F(StoringRulesTest, ASlowServerIsNoSlowDisk)
  {
    Sample sample = MakeStored(21);
    sample.phases.emplace_back(Phase::Remote, 18);
    SetTraffic(sample);
    const Finding finding = Judge("slow-storage");
    EXPECT_EQ("slow-storage", finding.id);
    EXPECT_NEAR(0.018, finding.evidence["MeanRemote"].asDouble(), 1e-6);
    EXPECT_NE(std::string::npos, finding.explanation.find("the storage server"));
    EXPECT_EQ(std::string::npos, finding.remedy.text.find("antivirus"));
  }

  TEST_F(StoringRulesTest, FindsAStorageThatIsSlowWithoutFsync)
  {
    SetTraffic(MakeStored(21));  // 20 ms without sync for 500 kB
    const Finding finding = Judge("slow-storage");
    EXPECT_EQ("slow-storage", finding.id);
    EXPECT_NEAR(0.020, finding.evidence["MeanWrite"].asDouble(), 1e-6);
    EXPECT_NEAR(500'000 / 0.020, finding.evidence["Rate"].asDouble(), 1e3);
    EXPECT_EQ("System", finding.remedy.kind);
  }

  TEST_F(StoringRulesTest, FindsASlowSqlite)
  {
    SetTraffic(MakeIndexed(30));
    const Finding finding = Judge("index");
    EXPECT_EQ("index", finding.id);
    EXPECT_EQ("SQLite", finding.evidence["Database"].asString());
    EXPECT_NEAR(0.030, finding.evidence["ServiceTime"].asDouble(), 1e-4);
    EXPECT_TRUE(finding.remedy.document.isMember("IndexDirectory"));
  }

  TEST_F(StoringRulesTest, NamesTheRoundTripsOfADatabaseServer)
  {
    SetTraffic(MakeIndexed(30));
    evidence_.facts.hasDatabasePlugin = true;
    EXPECT_NE(std::string::npos, Judge("index").explanation.find("round trip"));
  }

  TEST_F(ProcessorRuleTest, LetsOthersJudgeWhereThereIsProcessorTime)
  {
    Receive(30, MANY, 0, 0);
    const Finding finding = Judge();
    EXPECT_EQ("index", finding.id);
    EXPECT_GT(finding.cost.shareOfIngestTime, 0.5);
  }

  TEST_F(ProcessorRuleTest, NamesTheProcessorWhereTheDatabaseSeemsSlowForTheLackOfIt)
  {
    Receive(2, MANY, 30, MANY);
    const Finding finding = Judge();
    EXPECT_EQ("processor", finding.id);
    EXPECT_NEAR(9, finding.evidence["RunnableTasks"].asDouble(), 1e-9);
    EXPECT_EQ("index", finding.evidence["SeemsLike"].asString());
    EXPECT_GT(finding.cost.shareOfIngestTime, 0.5);
    EXPECT_EQ("System", finding.remedy.kind);
  }

  TEST_F(ProcessorRuleTest, ADatabaseThatIsSlowEitherWayIsNamedToo)
  {
    Receive(30, MANY, 60, MANY);
    const std::vector<Finding> findings = JudgeAll();
    ASSERT_EQ(2U, findings.size());
    EXPECT_EQ("index", findings[0].id);
    EXPECT_NEAR(0.030, findings[0].evidence["MeanIndex"].asDouble(), 1e-6);
    EXPECT_EQ("processor", findings[1].id);
    EXPECT_LT(findings[0].cost.shareOfIngestTime + findings[1].cost.shareOfIngestTime, 1);
  }

  TEST_F(ProcessorRuleTest, IsSilentWhereItIsFastEnoughAndOnTooFewInstances)
  {
    ExpectNothing("", "fast enough", [this] { Receive(2, 0, 2, MANY); });
    ExpectNothing("", "too few instances", [this] { Receive(2, MANY, 30, FEW); });
  }

  TEST_F(StoringRulesTest, FindsAnObjectStorageThatIsSlow)
  {
    SetTraffic(MakeCommitted(60));
    const Finding finding = Judge("slow-commit");
    EXPECT_EQ("slow-commit", finding.id);
    EXPECT_NEAR(0.060, finding.evidence["MeanCommit"].asDouble(), 1e-6);
  }

  TEST_F(StoringRulesTest, AreSilentOnFastStoragesAndTooFewInstances)
  {
    Sample large = MakeStored(21);
    large.size = 20'000'000;
    ExpectNothing("fsync", "an SSD", [this] { SetTraffic(MakeSynced(4)); });
    ExpectNothing("fsync", "too few instances", [this] { SetTraffic(MakeSynced(12), FEW); });
    ExpectNothing("slow-storage", "a gigabyte a second", [&] { SetTraffic(large); });
    ExpectNothing("slow-storage", "too few instances", [this] { SetTraffic(MakeStored(21), FEW); });
    ExpectNothing("index", "many senders wait for a fast database",
                  [this] { SetTraffic(MakeIndexed(30, 3), 1000); });
    ExpectNothing("index", "too few instances", [this] { SetTraffic(MakeIndexed(30), FEW); });
    ExpectNothing("slow-commit", "a local disk", [this] { SetTraffic(MakeCommitted(5)); });
    ExpectNothing("slow-commit", "too few instances",
                  [this] { SetTraffic(MakeCommitted(60), FEW); });
  }
}
