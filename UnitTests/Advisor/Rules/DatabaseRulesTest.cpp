// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    class DatabaseRulesTest : public RuleTest
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

      static bool Contains(const Remedy& remedy, const std::string& text)
      {
        return remedy.text.find(text) != std::string::npos;
      }

      // Round trips in the index, whose shortest takes so long, and other times in it
      static Sample MakeAsked(std::uint32_t roundTrips, double latency, double work, double queued)
      {
        const double database = roundTrips * latency + work;
        Sample sample = MakeHealthy();
        sample.phases[6].second = database + queued;
        sample.phases.emplace_back(Phase::Database, database);
        sample.database =
            ServerRecord{"10.0.0.9:5432", 12, roundTrips, ToDuration(Milliseconds(latency)),
                         ToDuration(Milliseconds(queued))};
        sample.gap = 50;
        return sample;
      }

      // Several at once over as many connections as the evidence has: with one, and 4 senders,
      // three of four wait
      static Sample MakeQueued(double queued)
      {
        Sample sample = MakeAsked(10, 0.1, 9, queued);
        sample.gap = 10;
        return sample;
      }
    };

    using DatabaseLatencyRuleTest = DatabaseRulesTest;
    using DatabaseConnectionsRuleTest = DatabaseRulesTest;
  }

  TEST_F(DatabaseLatencyRuleTest, ADistantServerIsFoundByItsRoundTrips)
  {
    SetTraffic(MakeAsked(20, 5, 10, 0));
    const Finding finding = Judge("database-latency");
    EXPECT_EQ("database-latency", finding.id);
    EXPECT_NEAR(20, finding.evidence["RoundTrips"].asDouble(), 1e-9);
    EXPECT_NEAR(0.005, finding.evidence["Latency"].asDouble(), 1e-9);
    EXPECT_NEAR(0.1 / 0.1138, finding.evidence["LatencyShare"].asDouble(), 1e-6);
    EXPECT_EQ("10.0.0.9:5432", finding.evidence["Server"].asString());
    EXPECT_NEAR(1138.0 / 138, *finding.cost.gain, 0.1);
    EXPECT_EQ("System", finding.remedy.kind);
    EXPECT_FALSE(IsFound("index"));
  }

  TEST_F(DatabaseLatencyRuleTest, AServerThatWorksForLongIsNotFarAway)
  {
    SetTraffic(MakeAsked(20, 0.6, 100, 0));
    EXPECT_FALSE(IsFound("database-latency"));
    EXPECT_TRUE(IsFound("index"));
  }

  TEST_F(DatabaseLatencyRuleTest, AServerOnTheSameMachineCannotBeNearerAndFewInstancesSayNothing)
  {
    ExpectNothing("database-latency", "the same machine",
                  [this] { SetTraffic(MakeAsked(100, 0.3, 0, 0)); });
    ExpectNothing("database-latency", "too few instances",
                  [this] { SetTraffic(MakeAsked(20, 5, 10, 0), FEW); });
    ExpectNothing("database-latency", "no database", [this] { SetTraffic(MakeHealthy()); });
  }

  TEST_F(DatabaseLatencyRuleTest, OnlyUsersOfPostgreSqlAreToldOfItsPlugin)
  {
    SetTraffic(MakeAsked(20, 5, 10, 0));
    for (const char* const section : {"MySQL", "Odbc", "Another"})
    {
      UseDatabase(section);
      const std::string text = Judge("database-latency").remedy.text;
      EXPECT_EQ(std::string::npos, text.find("PostgreSQL")) << section << ": " << text;
    }
    UseDatabase("PostgreSQL");
    EXPECT_NE(std::string::npos, Judge("database-latency").remedy.text.find("PostgreSQL"));
  }

  // Transactions that are begun anew, or another plugin's stored callback
  TEST_F(DatabaseRulesTest, WhereTheServerIsHardlyWaitedForItIsNotBlamed)
  {
    UseDatabase("PostgreSQL");
    Sample sample = MakeAsked(10, 0.1, 2, 0);
    sample.phases[6].second += 60;
    SetTraffic(sample);
    Finding finding = Judge("index");
    EXPECT_EQ("index", finding.id);
    EXPECT_NE(std::string::npos, finding.explanation.find("not the cause"));
    EXPECT_FALSE(Contains(finding.remedy, "SSD"));
    EXPECT_TRUE(Contains(finding.remedy, "ReadCommitted"));
    EXPECT_EQ("System", finding.remedy.kind);

    SetTraffic(MakeAsked(10, 0.1, 60, 0));
    finding = Judge("index");
    EXPECT_TRUE(Contains(finding.remedy, "SSD"));
  }

  // One modality's, and viewers that have the only connection: no more senders than connections
  TEST_F(DatabaseRulesTest, WhereQueriesHaveTheConnectionTheServersDiskIsNotBlamed)
  {
    Sample sample = MakeAsked(10, 0.1, 9, 50);
    sample.gap = 100;
    SetTraffic(sample);
    EXPECT_FALSE(IsFound("database-connections"));
    const Finding finding = Judge("index");
    EXPECT_NE(std::string::npos, finding.explanation.find("waits 50 ms"));
    EXPECT_FALSE(Contains(finding.remedy, "SSD"));
  }

  TEST_F(DatabaseRulesTest, FilesInTheDatabaseHaveOneConnectionHoweverManyThereAre)
  {
    UseDatabase("PostgreSQL");
    SetOption("EnableStorage", true);
    SetTraffic(MakeAsked(20, 5, 10, 0));
    Remedy remedy = Judge("database-latency").remedy;
    EXPECT_TRUE(Contains(remedy, "EnableStorage"));
    EXPECT_FALSE(Contains(remedy, "IndexConnectionsCount"));

    Sample sample;
    sample.phases = {{Phase::Receive, 1}, {Phase::Prepare, 1}, {Phase::Commit, 40}};
    sample.gap = 100;
    SetTraffic(sample);
    remedy = Judge("slow-commit").remedy;
    EXPECT_TRUE(Contains(remedy, "EnableStorage"));
    EXPECT_FALSE(Contains(remedy, "HybridMode"));
  }

  TEST_F(DatabaseConnectionsRuleTest,
         ThreadsThatNeitherWaitForTheServerNorComputeWaitForAConnection)
  {
    UseDatabase("PostgreSQL");
    SetTraffic(MakeQueued(30));
    const Finding finding = Judge("database-connections");
    EXPECT_EQ("database-connections", finding.id);
    EXPECT_EQ(1, finding.evidence["Connections"].asInt());
    EXPECT_NEAR(1, finding.evidence["ConnectionsInUse"].asDouble(), 0.1);
    EXPECT_NEAR(4, finding.evidence["InstancesInIndex"].asDouble(), 0.1);
    EXPECT_NEAR(0.03, finding.evidence["MeanQueued"].asDouble(), 1e-9);
    EXPECT_LE(4, finding.remedy.document["PostgreSQL"]["IndexConnectionsCount"].asInt());
    EXPECT_FALSE(IsFound("index"));
  }

  TEST_F(DatabaseConnectionsRuleTest, WhoseServersShareTheDatabaseIsWarnedOfItsLimit)
  {
    SetTraffic(MakeQueued(30));

    for (const char* const section : {"PostgreSQL", "MySQL", "Another"})
    {
      UseDatabase(section);
      EXPECT_TRUE(Contains(Judge("database-connections").remedy, "max_connections")) << section;
    }
  }

  TEST_F(DatabaseConnectionsRuleTest, OnlyUsersOfPostgreSqlAreToldOfItsPlugin)
  {
    SetTraffic(MakeQueued(30));
    for (const char* const section : {"MySQL", "Odbc"})
    {
      UseDatabase(section);
      const Remedy remedy = Judge("database-connections").remedy;
      EXPECT_LE(4, remedy.document[section]["IndexConnectionsCount"].asInt());
      EXPECT_EQ(std::string::npos, remedy.text.find("PostgreSQL")) << section;
      EXPECT_EQ(std::string::npos, remedy.text.find("ReadCommitted")) << section;
    }
    UseDatabase("PostgreSQL");
    EXPECT_NE(std::string::npos, Judge("database-connections").remedy.text.find("ReadCommitted"));
  }

  // The plugin may not have used all of them lately
  TEST_F(DatabaseConnectionsRuleTest, WhereAsManyMayBeMadeAsThereAreThreadsNobodyWaitsForOne)
  {
    SetTraffic(MakeQueued(30));
    UseDatabase("PostgreSQL");
    SetOption("IndexConnectionsCount", 5);
    EXPECT_FALSE(IsFound("database-connections"));
    SetOption("IndexConnectionsCount", 2);
    EXPECT_EQ(2, Judge("database-connections").evidence["Connections"].asInt());
  }

  TEST_F(DatabaseConnectionsRuleTest, IsSilentWhereSomethingElseIsWaitedFor)
  {
    Sample hardlyUsed = MakeQueued(500);  // another plugin's stored callback, say
    hardlyUsed.gap = 130;
    ExpectNothing("database-connections", "a connection that is hardly used",
                  [&] { SetTraffic(hardlyUsed); });
    ExpectNothing("database-connections", "a short wait", [this] { SetTraffic(MakeQueued(0.5)); });
    ExpectNothing("database-connections", "too few instances",
                  [this] { SetTraffic(MakeQueued(30), FEW); });
    ExpectNothing("database-connections", "free connections",
                  [this]
                  {
                    SetTraffic(MakeQueued(30));
                    evidence_.database.connections = 5;
                  });
  }

  // Four senders at one connection, of release 9.0 of the PostgreSQL plugin or newer
  TEST_F(DatabaseConnectionsRuleTest, ThreadsThatSleepWhileAConnectionIsFreeWaitForOneToo)
  {
    Sample sample = MakeQueued(50);
    sample.gap = 18;
    SetTraffic(sample);
    EXPECT_TRUE(IsFound("database-connections"));
  }

  TEST_F(DatabaseConnectionsRuleTest, AnUnknownPluginIsAdvisedInWords)
  {
    SetTraffic(MakeQueued(30));
    EXPECT_EQ("System", Judge("database-connections").remedy.kind);
  }
}
