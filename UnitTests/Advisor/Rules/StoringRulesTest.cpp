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

      static Sample MakePrepared(double receive, double prepare, double storage, std::size_t size)
      {
        Sample sample;
        sample.phases = {{Phase::Receive, receive},
                         {Phase::Prepare, prepare},
                         {Phase::Storage, storage},
                         {Phase::Index, 2}};
        sample.size = size;
        return sample;
      }

      // Of a fast SQLite (2 ms) and of a slow one, while there was processor time or not
      void Receive(double ofCalm, int calm, double ofStarved, int starved)
      {
        SetTraffic(MakeIndexed((ofCalm * calm + ofStarved * starved) / (calm + starved)),
                   calm + starved);
        evidence_.calm = MakeTraffic(MakeIndexed(ofCalm), calm);
        evidence_.starved = MakeTraffic(MakeIndexed(ofStarved), starved);
        evidence_.runnableTasks = 9;
      }
    };

    class DatabaseRulesTest : public StoringRulesTest
    {
    protected:
      DatabaseRulesTest()
      {
        evidence_.database = {"10.0.0.9:5432", 1};
        evidence_.facts.hasDatabasePlugin = true;
      }

      void UseDatabase(const std::string& section)
      {
        evidence_.facts.configuration = Json::objectValue;
        evidence_.facts.databaseSection = section;
      }

      void SetOption(const std::string& name, const Json::Value& value)
      {
        evidence_.facts.configuration["PostgreSQL"][name] = value;
      }

      // Round trips in the index, whose shortest takes so long, and other times in it
      static Sample MakeAsked(std::uint32_t roundTrips, double latency, double work, double queued)
      {
        const double database = roundTrips * latency + work;
        Sample sample = MakeIndexed(database + queued);
        sample.phases.emplace_back(Phase::Database, database);
        sample.database =
            ServerRecord{"10.0.0.9:5432", 12, roundTrips, ToDuration(Milliseconds(latency)),
                         ToDuration(Milliseconds(queued))};
        return sample;
      }

      // Several at once over as many connections as the evidence has: with one, and 4 senders,
      // three of four wait
      static Sample MakeQueued(double queued, double gap = 10)
      {
        Sample sample = MakeAsked(10, 0.1, 9, queued);
        sample.gap = gap;
        return sample;
      }
    };
  }

  TEST_F(StoringRulesTest, SlowStoragesAreFound)
  {
    SetTraffic(MakeSynced(12));
    Finding finding = Judge("fsync", {{"MeanSync", 0.012}, {"SyncShare", 12 / 16.0}});
    EXPECT_TRUE(finding.peer.empty());
    EXPECT_NEAR(4, *finding.cost.gain, 1e-2);
    EXPECT_FALSE(finding.remedy.document["SyncStorageArea"].asBool());

    SetTraffic(MakeStored(21));  // 20 ms without sync for 500 kB
    finding = Judge("slow-storage", {{"MeanWrite", 0.020}, {"Rate", 500'000 / 0.020}});
    EXPECT_EQ("System", finding.remedy.kind);
    EXPECT_TRUE(Has(finding.remedy.text, "antivirus"));

    Sample remote = MakeStored(21);
    remote.phases.emplace_back(Phase::Remote, 18);
    SetTraffic(remote);
    finding = Judge("slow-storage", {{"MeanRemote", 0.018}});
    EXPECT_TRUE(Has(finding.explanation, "the storage server"));
    EXPECT_FALSE(Has(finding.remedy.text, "antivirus"));

    SetTraffic(MakeCommitted(60));
    Judge("slow-commit", {{"MeanCommit", 0.060}});
  }

  TEST_F(StoringRulesTest, ASlowIndexIsFoundAndNamedByItsDatabase)
  {
    SetTraffic(MakeIndexed(30));
    const Finding finding = Judge("index");
    EXPECT_EQ("SQLite", finding.evidence["Database"].asString());
    EXPECT_NEAR(0.030, finding.evidence["ServiceTime"].asDouble(), 1e-4);
    EXPECT_TRUE(finding.remedy.document.isMember("IndexDirectory"));
    evidence_.facts.hasDatabasePlugin = true;
    EXPECT_TRUE(Has(Judge("index").explanation, "round trip"));
  }

  TEST_F(StoringRulesTest, FastStoragesAndTooFewInstancesAreNoFindings)
  {
    Sample large = MakeStored(21);
    large.size = 20'000'000;
    ExpectNothing("fsync", "an SSD", [this] { SetTraffic(MakeSynced(4)); });
    ExpectNothing("slow-storage", "a gigabyte a second", [&] { SetTraffic(large); });
    ExpectNothing("index", "many senders wait for a fast database",
                  [this] { SetTraffic(MakeIndexed(30, 3), 1000); });
    ExpectNothing("slow-commit", "a local disk", [this] { SetTraffic(MakeCommitted(5)); });

    for (const Sample& slow : {MakeSynced(12), MakeStored(21), MakeIndexed(30), MakeCommitted(60)})
    {
      ExpectNothing("", "too few instances", [&] { SetTraffic(slow, FEW); });
    }
  }

  TEST_F(StoringRulesTest, WhereTheDatabaseSeemsSlowForTheLackOfAProcessorThatIsNamed)
  {
    ExpectNothing("", "fast enough", [this] { Receive(2, 0, 2, MANY); });
    ExpectNothing("", "too few instances", [this] { Receive(2, MANY, 30, FEW); });

    Receive(30, MANY, 0, 0);
    Finding finding = Judge();
    EXPECT_EQ("index", finding.id);
    EXPECT_GT(finding.cost.shareOfIngestTime, 0.5);

    Receive(2, MANY, 30, MANY);
    finding = Judge("", {{"RunnableTasks", 9}});
    EXPECT_EQ("processor", finding.id);
    EXPECT_EQ("index", finding.evidence["SeemsLike"].asString());
    EXPECT_GT(finding.cost.shareOfIngestTime, 0.5);
    EXPECT_EQ("System", finding.remedy.kind);

    Receive(30, MANY, 60, MANY);  // slow either way
    const double index = Judge("index", {{"MeanIndex", 0.030}}).cost.shareOfIngestTime;
    EXPECT_LT(index + Judge("processor").cost.shareOfIngestTime, 1);
    EXPECT_EQ(2U, JudgeAll().size());
  }

  TEST_F(StoringRulesTest, Md5OfLargeInstancesIsFound)
  {
    SetTraffic(MakePrepared(20, 60, 10, 15'000'000));  // 45 ms of MD5, 15 ms of copies
    const Finding finding =
        Judge("md5", {{"EstimatedHashing", 0.045}, {"HashingShare", 45 / 92.0}});
    EXPECT_FALSE(finding.remedy.document["StoreMD5ForAttachments"].asBool());

    SetTraffic(MakePrepared(2.5, 11.7, 4, 8'400'000));  // 720 MB/s, as measured
    EXPECT_TRUE(IsFound("md5"));
    SetTraffic(MakePrepared(3, 22, 7, 3'000'000));
    Judge("md5", {{"EstimatedHashing", 0.012}});  // of a slow processor
  }

  TEST_F(StoringRulesTest, Md5IsNotBlamedWhereItIsOffOrWorthItsTime)
  {
    Sample timeless;  // all are refused or held already, and there is no probe
    timeless.size = 15'000'000;
    const Sample large = MakePrepared(20, 60, 10, 15'000'000);
    ExpectNothing("md5", "small instances", [this] { SetTraffic(MakeHealthy()); });
    ExpectNothing("md5", "too few instances", [&] { SetTraffic(large, FEW); });
    ExpectNothing("md5", "no time", [&] { SetTraffic(timeless); });
    ExpectNothing("md5", "another plugin's filter or compression",
                  [this] { SetTraffic(MakePrepared(3, 112, 7, 3'000'000)); });
    SetTraffic(large);
    ExpectNothing("md5", "off",
                  [this] { evidence_.facts.configuration["StoreMD5ForAttachments"] = false; });

    // Without it, Orthanc would not start with this option
    evidence_.facts.orthancVersion = "1.13.0";
    EXPECT_FALSE(Judge("md5").remedy.document.isMember("OverwriteInstances"));
    evidence_.facts.configuration["OverwriteInstances"] = "IfChanged";
    EXPECT_FALSE(IsFound("md5"));
  }

  TEST_F(DatabaseRulesTest, ADistantServerIsFoundByItsRoundTrips)
  {
    SetTraffic(MakeAsked(20, 0.6, 100, 0));  // works for long
    EXPECT_FALSE(IsFound("database-latency"));
    EXPECT_TRUE(IsFound("index"));
    ExpectNothing("database-latency", "the same machine",
                  [this] { SetTraffic(MakeAsked(100, 0.3, 0, 0)); });
    ExpectNothing("database-latency", "too few instances",
                  [this] { SetTraffic(MakeAsked(20, 5, 10, 0), FEW); });
    ExpectNothing("database-latency", "no database", [this] { SetTraffic(MakeHealthy()); });

    SetTraffic(MakeAsked(20, 5, 10, 0));
    const Finding finding =
        Judge("database-latency",
              {{"RoundTrips", 20}, {"Latency", 0.005}, {"LatencyShare", 0.1 / 0.1138}});
    EXPECT_EQ("10.0.0.9:5432", finding.evidence["Server"].asString());
    EXPECT_NEAR(1138.0 / 138, *finding.cost.gain, 0.1);
    EXPECT_EQ("System", finding.remedy.kind);
    EXPECT_FALSE(IsFound("index"));
  }

  TEST_F(DatabaseRulesTest, OnlyUsersOfPostgreSqlAreToldOfItsPlugin)
  {
    for (const std::string section : {"MySQL", "Odbc", "PostgreSQL"})
    {
      const bool isOurs = section == "PostgreSQL";
      UseDatabase(section);
      SetTraffic(MakeAsked(20, 5, 10, 0));
      EXPECT_EQ(isOurs, Has(Judge("database-latency").remedy.text, "PostgreSQL")) << section;

      SetTraffic(MakeQueued(30));
      const Remedy remedy = Judge("database-connections").remedy;
      EXPECT_EQ(isOurs, Has(remedy.text, "ReadCommitted")) << section;
      EXPECT_TRUE(isOurs || !Has(remedy.text, "PostgreSQL")) << section;
      EXPECT_TRUE(Has(remedy.text, "max_connections")) << section;  // other servers share it
      EXPECT_LE(4, remedy.document[section]["IndexConnectionsCount"].asInt());
    }

    UseDatabase("");  // an unknown plugin is advised in words
    EXPECT_EQ("System", Judge("database-connections").remedy.kind);
  }

  // Transactions that are begun anew, or another plugin's stored callback
  TEST_F(DatabaseRulesTest, WhereTheServerIsHardlyWaitedForItIsNotBlamed)
  {
    UseDatabase("PostgreSQL");
    Sample sample = MakeAsked(10, 0.1, 2, 0);
    sample.phases[6].second += 60;
    SetTraffic(sample);
    const Finding finding = Judge("index");
    EXPECT_TRUE(Has(finding.explanation, "not the cause"));
    EXPECT_FALSE(Has(finding.remedy.text, "SSD"));
    EXPECT_TRUE(Has(finding.remedy.text, "ReadCommitted"));
    EXPECT_EQ("System", finding.remedy.kind);

    SetTraffic(MakeAsked(10, 0.1, 60, 0));
    EXPECT_TRUE(Has(Judge("index").remedy.text, "SSD"));
  }

  // One modality's, and viewers that have the only connection: no more senders than connections
  TEST_F(DatabaseRulesTest, WhereQueriesHaveTheConnectionTheServersDiskIsNotBlamed)
  {
    SetTraffic(MakeQueued(50, 100));
    EXPECT_FALSE(IsFound("database-connections"));
    const Finding finding = Judge("index");
    EXPECT_TRUE(Has(finding.explanation, "waits 50 ms"));
    EXPECT_FALSE(Has(finding.remedy.text, "SSD"));
  }

  TEST_F(DatabaseRulesTest, FilesInTheDatabaseHaveOneConnectionHoweverManyThereAre)
  {
    UseDatabase("PostgreSQL");
    SetOption("EnableStorage", true);
    SetTraffic(MakeAsked(20, 5, 10, 0));
    std::string text = Judge("database-latency").remedy.text;
    EXPECT_TRUE(Has(text, "EnableStorage"));
    EXPECT_FALSE(Has(text, "IndexConnectionsCount"));

    SetTraffic(MakeCommitted(40));
    text = Judge("slow-commit").remedy.text;
    EXPECT_TRUE(Has(text, "EnableStorage"));
    EXPECT_FALSE(Has(text, "HybridMode"));
  }

  TEST_F(DatabaseRulesTest, ThreadsThatNeitherWaitForTheServerNorComputeWaitForAConnection)
  {
    UseDatabase("PostgreSQL");
    SetTraffic(MakeQueued(30));
    const Finding finding =
        Judge("database-connections", {{"Connections", 1}, {"MeanQueued", 0.03}});
    EXPECT_NEAR(1, finding.evidence["ConnectionsInUse"].asDouble(), 0.1);
    EXPECT_NEAR(4, finding.evidence["InstancesInIndex"].asDouble(), 0.1);
    EXPECT_FALSE(IsFound("index"));

    // The plugin may not have used all of them lately
    SetOption("IndexConnectionsCount", 2);
    Judge("database-connections", {{"Connections", 2}});
    SetOption("IndexConnectionsCount", 5);
    EXPECT_FALSE(IsFound("database-connections"));

    // Four senders at one connection, of release 9.0 of the PostgreSQL plugin or newer
    UseDatabase("PostgreSQL");
    SetTraffic(MakeQueued(50, 18));
    EXPECT_TRUE(IsFound("database-connections"));
  }

  TEST_F(DatabaseRulesTest, NobodyWaitsForAConnectionWhereSomethingElseIsWaitedFor)
  {
    ExpectNothing("database-connections", "a connection that is hardly used",
                  [this] { SetTraffic(MakeQueued(500, 130)); });
    ExpectNothing("database-connections", "a short wait", [this] { SetTraffic(MakeQueued(0.5)); });
    ExpectNothing("database-connections", "too few instances",
                  [this] { SetTraffic(MakeQueued(30), FEW); });
    SetTraffic(MakeQueued(30));
    ExpectNothing("database-connections", "free connections",
                  [this] { evidence_.database.connections = 5; });
  }
}
