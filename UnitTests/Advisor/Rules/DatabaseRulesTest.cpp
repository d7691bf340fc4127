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
        evidence_.facts.configuration[section]["EnableIndex"] = true;
      }

      void UsePostgreSql(const std::string& version, const std::string& orthanc)
      {
        UseDatabase("PostgreSQL");
        evidence_.facts.postgreSqlVersion = version;
        evidence_.facts.orthancVersion = orthanc;
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
            DatabaseRecord{"10.0.0.9:5432", 12, roundTrips, ToDuration(Milliseconds(latency)),
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
    const Finding finding = Judge(&JudgeDatabaseLatency);
    EXPECT_EQ("database-latency", finding.id);
    EXPECT_NEAR(20, finding.evidence["RoundTrips"].asDouble(), 1e-9);
    EXPECT_NEAR(0.005, finding.evidence["Latency"].asDouble(), 1e-9);
    EXPECT_NEAR(0.1 / 0.1138, finding.evidence["LatencyShare"].asDouble(), 1e-6);
    EXPECT_EQ("10.0.0.9:5432", finding.evidence["Server"].asString());
    EXPECT_NEAR(1138.0 / 138, *finding.cost.gain, 0.1);
    EXPECT_EQ(Remedy::Kind::System, finding.remedy.kind);
    EXPECT_FALSE(IsFound(&JudgeIndex));
  }

  TEST_F(DatabaseLatencyRuleTest, AServerThatWorksForLongIsNotFarAway)
  {
    SetTraffic(MakeAsked(20, 0.6, 100, 0));
    EXPECT_FALSE(IsFound(&JudgeDatabaseLatency));
    EXPECT_TRUE(IsFound(&JudgeIndex));
  }

  TEST_F(DatabaseLatencyRuleTest, AServerOnTheSameMachineCannotBeNearer)
  {
    SetTraffic(MakeAsked(100, 0.3, 0, 0));
    EXPECT_FALSE(IsFound(&JudgeDatabaseLatency));
  }

  TEST_F(DatabaseLatencyRuleTest, FewInstancesSayNothing)
  {
    SetTraffic(MakeAsked(20, 5, 10, 0), FEW);
    EXPECT_FALSE(IsFound(&JudgeDatabaseLatency));
    SetTraffic(MakeHealthy());
    EXPECT_FALSE(IsFound(&JudgeDatabaseLatency));
  }

  TEST_F(DatabaseLatencyRuleTest, WhereThePluginIsNotKnownTheRemedyFitsOrthancsRelease)
  {
    UseDatabase("PostgreSQL");
    SetTraffic(MakeAsked(20, 5, 10, 0));
    for (const char* const version : {"", "unknown"})
    {
      evidence_.facts.postgreSqlVersion = version;
      evidence_.facts.orthancVersion = "1.10.1";
      EXPECT_TRUE(Contains(Judge(&JudgeDatabaseLatency).remedy, "From Orthanc 1.12.5"));
      evidence_.facts.orthancVersion = "1.12.7";
      const Remedy remedy = Judge(&JudgeDatabaseLatency).remedy;
      EXPECT_FALSE(Contains(remedy, "From Orthanc"));
      EXPECT_TRUE(Contains(remedy, "from its release 7.0 on"));
      EXPECT_TRUE(Contains(remedy, "IndexConnectionsCount"));
      EXPECT_EQ(Remedy::Kind::System, remedy.kind);
    }
  }

  TEST_F(DatabaseLatencyRuleTest, OlderReleasesOfThePluginAreToldOfANewerOneAndWhatItNeeds)
  {
    SetTraffic(MakeAsked(20, 5, 10, 0));
    for (const char* const version : {"4.0", "5.0"})
    {
      UsePostgreSql(version, "1.10.1");
      const Remedy remedy = Judge(&JudgeDatabaseLatency).remedy;
      EXPECT_EQ(Remedy::Kind::System, remedy.kind);
      EXPECT_TRUE(Contains(remedy, "From its release 7.0 on"));
      EXPECT_TRUE(Contains(remedy, std::string("this is release ") + version));
      EXPECT_TRUE(Contains(remedy, "needs Orthanc 1.12.5 or newer, and"));
      EXPECT_FALSE(Contains(remedy, "TransactionMode"));
      UsePostgreSql(version, "1.12.7");
      EXPECT_TRUE(Contains(Judge(&JudgeDatabaseLatency).remedy, "or newer, as this one is, and"));
    }
  }

  TEST_F(DatabaseLatencyRuleTest, Release6HasATransactionModeToSet)
  {
    SetTraffic(MakeAsked(20, 5, 10, 0));
    UsePostgreSql("6.2", "1.12.3");
    const Remedy remedy = Judge(&JudgeDatabaseLatency).remedy;
    EXPECT_EQ(Remedy::Kind::Configuration, remedy.kind);
    EXPECT_EQ("ReadCommitted", remedy.document["PostgreSQL"]["TransactionMode"].asString());
    EXPECT_EQ(50, remedy.document["PostgreSQL"]["IndexConnectionsCount"].asInt());
    EXPECT_TRUE(Contains(remedy, "From its release 7.0 on"));

    SetOption("TransactionMode", "ReadCommitted");
    SetOption("IndexConnectionsCount", 50);
    const Remedy rest = Judge(&JudgeDatabaseLatency).remedy;
    EXPECT_EQ(Remedy::Kind::System, rest.kind);
    EXPECT_FALSE(Contains(rest, "TransactionMode"));
    EXPECT_FALSE(Contains(rest, "IndexConnectionsCount"));
  }

  TEST_F(DatabaseLatencyRuleTest, NewerReleasesCanOnlyBeNearer)
  {
    SetTraffic(MakeAsked(20, 5, 10, 0));
    for (const char* const version : {"7.0", "7.2", "9.0", "10.3", "mainline"})
    {
      UsePostgreSql(version, "1.13.0");
      Remedy remedy = Judge(&JudgeDatabaseLatency).remedy;
      EXPECT_EQ(Remedy::Kind::System, remedy.kind) << version;
      EXPECT_TRUE(Contains(remedy, "next to Orthanc")) << version;
      for (const char* const word : {"7.0", "IndexConnectionsCount", "TransactionMode"})
      {
        EXPECT_FALSE(Contains(remedy, word)) << version << ": " << remedy.text;
      }

      SetOption("IndexConnectionsCount", 5);
      SetOption("TransactionMode", "Serializable");
      remedy = Judge(&JudgeDatabaseLatency).remedy;
      EXPECT_EQ(Remedy::Kind::Configuration, remedy.kind) << version;
      EXPECT_EQ(50, remedy.document["PostgreSQL"]["IndexConnectionsCount"].asInt());
      EXPECT_EQ("ReadCommitted", remedy.document["PostgreSQL"]["TransactionMode"].asString());

      evidence_.facts.configuration["HttpThreadsCount"] = 5;
      EXPECT_FALSE(Contains(Judge(&JudgeDatabaseLatency).remedy, "IndexConnectionsCount"));
    }
  }

  TEST_F(DatabaseLatencyRuleTest, OnlyUsersOfPostgreSqlAreToldOfItsPlugin)
  {
    SetTraffic(MakeAsked(20, 5, 10, 0));
    for (const char* const section : {"MySQL", "Odbc", "Another"})
    {
      UseDatabase(section);
      const std::string text = Judge(&JudgeDatabaseLatency).remedy.text;
      EXPECT_EQ(std::string::npos, text.find("PostgreSQL")) << section << ": " << text;
    }
    UseDatabase("PostgreSQL");
    EXPECT_NE(std::string::npos, Judge(&JudgeDatabaseLatency).remedy.text.find("PostgreSQL"));
  }


  // Transactions that are begun anew, or another plugin's stored callback
  TEST_F(DatabaseRulesTest, WhereTheServerIsHardlyWaitedForItIsNotBlamed)
  {
    UsePostgreSql("4.0", "1.10.1");
    Sample sample = MakeAsked(10, 0.1, 2, 0);
    sample.phases[6].second += 60;
    SetTraffic(sample);
    Finding finding = Judge(&JudgeIndex);
    EXPECT_EQ("index", finding.id);
    EXPECT_NE(std::string::npos, finding.explanation.find("neither the server"));
    EXPECT_FALSE(Contains(finding.remedy, "SSD"));
    EXPECT_TRUE(Contains(finding.remedy, "From its release 7.0 on"));
    EXPECT_EQ(Remedy::Kind::System, finding.remedy.kind);

    UsePostgreSql("6.2", "1.12.3");
    EXPECT_EQ("ReadCommitted",
              Judge(&JudgeIndex).remedy.document["PostgreSQL"]["TransactionMode"].asString());

    SetTraffic(MakeAsked(10, 0.1, 60, 0));
    finding = Judge(&JudgeIndex);
    EXPECT_TRUE(Contains(finding.remedy, "SSD"));
  }

  TEST_F(DatabaseRulesTest, AServerOnThisMachineIsNotToBeMovedThere)
  {
    SetTraffic(MakeAsked(10, 0.1, 60, 0));
    EXPECT_TRUE(Contains(Judge(&JudgeIndex).remedy, "Orthanc's own machine"));

    for (const char* const server :
         {"127.0.0.1:5432", "[::1]:5432", "/run/postgresql/.s.PGSQL.5432", "@postgresql"})
    {
      evidence_.database.server = server;
      EXPECT_FALSE(Contains(Judge(&JudgeIndex).remedy, "own machine")) << server;
      EXPECT_TRUE(Contains(Judge(&JudgeIndex).remedy, "SSD")) << server;
    }
  }

  // One modality's, and viewers that have the only connection: no more senders than connections
  TEST_F(DatabaseRulesTest, WhereQueriesHaveTheConnectionTheServersDiskIsNotBlamed)
  {
    Sample sample = MakeAsked(10, 0.1, 9, 50);
    sample.gap = 100;
    SetTraffic(sample);
    EXPECT_FALSE(IsFound(&JudgeDatabaseConnections));
    const Finding finding = Judge(&JudgeIndex);
    EXPECT_NE(std::string::npos, finding.explanation.find("50 ms pass before"));
    EXPECT_FALSE(Contains(finding.remedy, "SSD"));
  }

  TEST_F(DatabaseRulesTest, FilesInTheDatabaseHaveOneConnectionHoweverManyThereAre)
  {
    UsePostgreSql("6.2", "1.12.3");
    SetOption("EnableStorage", true);
    SetTraffic(MakeAsked(20, 5, 10, 0));
    Remedy remedy = Judge(&JudgeDatabaseLatency).remedy;
    EXPECT_TRUE(Contains(remedy, "EnableStorage"));
    EXPECT_FALSE(Contains(remedy, "IndexConnectionsCount"));
    EXPECT_FALSE(remedy.document["PostgreSQL"].isMember("IndexConnectionsCount"));

    Sample sample;
    sample.phases = {{Phase::Receive, 1}, {Phase::Prepare, 1}, {Phase::Commit, 40}};
    sample.gap = 100;
    SetTraffic(sample);
    remedy = Judge(&JudgeCommit).remedy;
    EXPECT_TRUE(Contains(remedy, "EnableStorage"));
    EXPECT_FALSE(Contains(remedy, "HybridMode"));
  }


  TEST_F(DatabaseConnectionsRuleTest,
         ThreadsThatNeitherWaitForTheServerNorComputeWaitForAConnection)
  {
    UseDatabase("PostgreSQL");
    SetTraffic(MakeQueued(30));
    const Finding finding = Judge(&JudgeDatabaseConnections);
    EXPECT_EQ("database-connections", finding.id);
    EXPECT_EQ(1, finding.evidence["Connections"].asInt());
    EXPECT_NEAR(1, finding.evidence["ConnectionsInUse"].asDouble(), 0.1);
    EXPECT_NEAR(4, finding.evidence["InstancesInIndex"].asDouble(), 0.1);
    EXPECT_NEAR(0.03, finding.evidence["MeanQueued"].asDouble(), 1e-9);
    EXPECT_LE(4, finding.remedy.document["PostgreSQL"]["IndexConnectionsCount"].asInt());
    EXPECT_FALSE(IsFound(&JudgeIndex));
  }

  TEST_F(DatabaseConnectionsRuleTest, WhoseServersShareTheDatabaseIsWarnedOfItsLimit)
  {
    SetTraffic(MakeQueued(30));
    for (const char* const version : {"4.0", "6.2", "7.2"})
    {
      UsePostgreSql(version, "1.12.7");
      SetOption("IndexConnectionsCount", 1);
      EXPECT_TRUE(Contains(Judge(&JudgeDatabaseConnections).remedy, "max_connections")) << version;
    }

    UseDatabase("Another");
    EXPECT_TRUE(Contains(Judge(&JudgeDatabaseConnections).remedy, "max_connections"));
  }

  TEST_F(DatabaseConnectionsRuleTest, OnlyUsersOfPostgreSqlAreToldOfItsPlugin)
  {
    SetTraffic(MakeQueued(30));
    for (const char* const section : {"MySQL", "Odbc"})
    {
      UseDatabase(section);
      const Remedy remedy = Judge(&JudgeDatabaseConnections).remedy;
      EXPECT_LE(4, remedy.document[section]["IndexConnectionsCount"].asInt());
      EXPECT_EQ(std::string::npos, remedy.text.find("PostgreSQL")) << section;
      EXPECT_EQ(std::string::npos, remedy.text.find("ReadCommitted")) << section;
    }
    UseDatabase("PostgreSQL");
    EXPECT_NE(std::string::npos,
              Judge(&JudgeDatabaseConnections).remedy.text.find("ReadCommitted"));
  }

  TEST_F(DatabaseConnectionsRuleTest, TheTransactionModeIsThatOfThePluginsRelease)
  {
    SetTraffic(MakeQueued(30));
    for (const char* const version : {"4.0", "5.0"})
    {
      UsePostgreSql(version, "1.12.4");
      const Remedy remedy = Judge(&JudgeDatabaseConnections).remedy;
      EXPECT_FALSE(Contains(remedy, "TransactionMode"));
      EXPECT_TRUE(Contains(remedy, "are begun anew"));
      EXPECT_TRUE(Contains(remedy, "From its release 7.0 on"));
      EXPECT_TRUE(Contains(remedy, "needs Orthanc 1.12.5 or newer, and"));
      EXPECT_FALSE(remedy.document["PostgreSQL"].isMember("TransactionMode"));
    }

    UsePostgreSql("6.2", "1.12.3");
    Remedy remedy = Judge(&JudgeDatabaseConnections).remedy;
    EXPECT_EQ("ReadCommitted", remedy.document["PostgreSQL"]["TransactionMode"].asString());
    EXPECT_LE(4, remedy.document["PostgreSQL"]["IndexConnectionsCount"].asInt());

    for (const char* const newer : {"7.2", "9.0", "mainline"})
    {
      UsePostgreSql(newer, "1.13.0");
      SetOption("IndexConnectionsCount", 1);
      remedy = Judge(&JudgeDatabaseConnections).remedy;
      EXPECT_EQ(1U, remedy.document["PostgreSQL"].size()) << newer;
      EXPECT_FALSE(Contains(remedy, "TransactionMode")) << newer;
      EXPECT_FALSE(Contains(remedy, "are begun anew")) << newer;
      EXPECT_FALSE(Contains(remedy, "7.0")) << newer;
    }
  }

  // The plugin may not have used all of them lately
  TEST_F(DatabaseConnectionsRuleTest, WhereAsManyMayBeMadeAsThereAreThreadsNobodyWaitsForOne)
  {
    SetTraffic(MakeQueued(30));
    UsePostgreSql("7.2", "1.12.7");
    EXPECT_FALSE(IsFound(&JudgeDatabaseConnections));  // 50, by default
    SetOption("IndexConnectionsCount", 5);
    EXPECT_FALSE(IsFound(&JudgeDatabaseConnections));
    SetOption("IndexConnectionsCount", 2);
    EXPECT_EQ(2, Judge(&JudgeDatabaseConnections).evidence["Connections"].asInt());
  }

  TEST_F(DatabaseConnectionsRuleTest, WhereConnectionsAreFreeNobodyWaitsForOne)
  {
    SetTraffic(MakeQueued(30));
    evidence_.database.connections = 5;
    EXPECT_FALSE(IsFound(&JudgeDatabaseConnections));
  }

  // Four senders at one connection, of release 9.0 of the PostgreSQL plugin or newer
  TEST_F(DatabaseConnectionsRuleTest, ThreadsThatSleepWhileAConnectionIsFreeWaitForOneToo)
  {
    Sample sample = MakeQueued(50);
    sample.gap = 18;
    SetTraffic(sample);
    EXPECT_TRUE(IsFound(&JudgeDatabaseConnections));
  }

  // Another plugin's stored callback, say
  TEST_F(DatabaseConnectionsRuleTest, WhereTheConnectionIsHardlyUsedSomethingElseIsWaitedFor)
  {
    Sample sample = MakeQueued(500);
    sample.gap = 130;
    SetTraffic(sample);
    EXPECT_FALSE(IsFound(&JudgeDatabaseConnections));
  }

  TEST_F(DatabaseConnectionsRuleTest, AShortWaitIsNone)
  {
    SetTraffic(MakeQueued(0.5));
    EXPECT_FALSE(IsFound(&JudgeDatabaseConnections));
    SetTraffic(MakeQueued(30), FEW);
    EXPECT_FALSE(IsFound(&JudgeDatabaseConnections));
  }

  TEST_F(DatabaseConnectionsRuleTest, AnUnknownPluginIsAdvisedInWords)
  {
    SetTraffic(MakeQueued(30));
    EXPECT_EQ(Remedy::Kind::System, Judge(&JudgeDatabaseConnections).remedy.kind);
  }
}
