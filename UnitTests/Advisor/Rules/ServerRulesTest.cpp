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
        facts_.hasDatabasePlugin = true;
        evidence_.served.resize(ROUTE_CLASS_COUNT);
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

      // So many that were stored, then so many that were lost, a second between two of them
      void Receive(int stored, int lost, int storedAfterwards = 0)
      {
        LatestTraffic traffic{TimePoint(std::chrono::hours(1))};
        TimePoint now;
        evidence_.latestFailure = "storage full, or storage or database failed";

        for (int i = 0; i < stored + lost + storedAfterwards; i++)
        {
          FinishedInstance instance = ToInstance(MakeHealthy());
          instance.isOwnFailure = i >= stored && i < stored + lost;
          now = TimePoint(std::chrono::seconds(3600 + i));
          traffic.Add(instance, now);
        }

        evidence_.received = traffic.GetEvidence(now);
      }

      // Times in milliseconds
      void Serve(RouteClass route, const std::vector<std::pair<Phase, double>>& phases,
                 double clientWait = 0)
      {
        FinishedRequest request;
        request.clientWait = ToDuration(Milliseconds(clientWait));

        for (const auto& [phase, time] : phases)
        {
          const auto* const place = std::find(REQUEST_PHASES.begin(), REQUEST_PHASES.end(), phase);
          request.phases[static_cast<std::size_t>(place - REQUEST_PHASES.begin())] =
              ToDuration(Milliseconds(time));
        }

        for (int i = 0; i < MANY; i++)
        {
          evidence_.served[static_cast<std::size_t>(route)].Add(request);
        }
      }

      ServerFacts& facts_ = evidence_.facts;
      Json::Value& configuration_ = facts_.configuration;
    };
  }

  TEST_F(ServerRulesTest, WhatWasLostIsFoundUntilInstancesAreStoredAgain)
  {
    Receive(0, 3);
    const Finding finding = Judge("failed-instances", {{"Failed", 3}, {"FailedShare", 1}});
    EXPECT_EQ("Orthanc failed to store 100 % of the latest images", finding.title);
    EXPECT_EQ(evidence_.latestFailure, finding.evidence["Reason"].asString());
    EXPECT_DOUBLE_EQ(1, finding.cost.shareOfIngestTime);
    EXPECT_EQ("System", finding.remedy.kind);

    Receive(20, 20, 20);
    EXPECT_LT(Judge("failed-instances").evidence["FailedShare"].asDouble(), 0.5);
    ExpectNothing("failed-instances", "later", [this] { Receive(20, 20, 200); });
    ExpectNothing("failed-instances", "two", [this] { Receive(0, 2); });
    ExpectNothing("failed-instances", "few of many hundreds",
                  [this]
                  {
                    SetTraffic(MakeHealthy(), 1000);
                    evidence_.received.ownFailures = 5;
                  });
  }

  TEST_F(ServerRulesTest, WhatIsStuckIsFoundWithItsPhaseAndTheRemedyOfThat)
  {
    using std::chrono::seconds;
    evidence_.stuck = {{Phase::Index, seconds(12)}, {Phase::Storage, seconds(31)}};
    const Finding finding = Judge("stuck-instances", {{"Instances", 2}, {"LongestTime", 31}});
    EXPECT_EQ("Instances in flight wait for the storage: 2, the oldest for 31 s", finding.title);
    EXPECT_EQ("storage", finding.evidence["Phase"].asString());
    EXPECT_DOUBLE_EQ(1, finding.cost.shareOfIngestTime);

    for (const auto& [phase, remedy] :
         {std::pair(Phase::Storage, "StorageDirectory"), std::pair(Phase::Index, "IndexDirectory"),
          std::pair(Phase::Commit, "storage and database"), std::pair(Phase::Prepare, "Lua")})
    {
      evidence_.stuck = {{phase, seconds(12)}};
      EXPECT_TRUE(Has(Judge("stuck-instances").remedy.text, remedy));
    }

    SetTraffic(MakeHealthy());
    EXPECT_LT(Judge("stuck-instances").cost.shareOfIngestTime, 1);
    ExpectNothing("stuck-instances", "none", [this] { evidence_.stuck.clear(); });
  }

  TEST_F(ServerRulesTest, AssociationsThatWaitForAThreadAreFound)
  {
    facts_.cores = 4;
    evidence_.load = {15, 9.5, 4.2};
    SetTraffic(MakeHealthy());
    const Finding finding =
        Judge("dicom-threads",
              {{"DicomThreadsCount", 4}, {"OpenAssociations", 9.5}, {"WaitingAssociations", 4.2}});
    EXPECT_EQ(10, finding.remedy.document["DicomThreadsCount"].asInt());
    ExpectNothing("dicom-threads", "all are served", [this] { evidence_.load.waiting = 0.1; });
    ExpectNothing("dicom-threads", "four looks", [this] { evidence_.load.looks = 4; });

    evidence_.load.associations = 200;  // no more threads than the cores can serve
    EXPECT_EQ(16, Judge("dicom-threads").remedy.document["DicomThreadsCount"].asInt());
    configuration_["DicomThreadsCount"] = 16;
    EXPECT_FALSE(IsFound("dicom-threads"));
  }

  TEST_F(ServerRulesTest, TheLongestWaitOfReadsIsFoundAndWhatAClientTakesSlowlyIsTheClients)
  {
    ExpectNothing("", "work",
                  [this] {
                    Serve(RouteClass::Preview,
                          {{Phase::Work, 1000}, {Phase::Send, 900}, {Phase::Storage, 500}});
                  });
    ExpectNothing("", "a short wait",
                  [this] {
                    Serve(RouteClass::File, {{Phase::Storage, 40}, {Phase::Work, 1}});
                  });

    Serve(RouteClass::Archive, {{Phase::Idle, 1000}, {Phase::Work, 20}, {Phase::Send, 80}}, 70);
    Serve(RouteClass::File, {{Phase::Work, 100}});
    const Finding finding =
        Judge("slow-reads", {{"Requests", MANY}, {"WaitTime", 7}, {"WaitShare", 0.7}});
    EXPECT_EQ("archive", finding.evidence["Class"].asString());
    EXPECT_EQ("Client", finding.evidence["WaitsFor"].asString());
    EXPECT_EQ("Peer", finding.remedy.kind);
    EXPECT_NEAR(0.35, finding.cost.shareOfIngestTime, 1e-6);
    EXPECT_FALSE(finding.cost.gain);

    Serve(RouteClass::Preview, {{Phase::Storage, 80}, {Phase::Work, 20}});
    EXPECT_EQ("Storage", Judge("slow-reads").evidence["WaitsFor"].asString());
    Serve(RouteClass::Query, {{Phase::Database, 90}, {Phase::Work, 20}});
    EXPECT_EQ("Database", Judge("slow-reads").evidence["WaitsFor"].asString());
    EXPECT_EQ("query", Judge("slow-reads").evidence["Class"].asString());
  }

  TEST_F(ServerRulesTest, WhatIsDeflatedForLongIsToBeDeflatedLess)
  {
    const struct
    {
      DeflateEvidence archives;
      DeflateEvidence files;
      const char* levels;  // empty: no finding
      double gain;
      double share;
    } cases[] = {{{4, 6}, {}, R"({"ArchiveLevel":1})", 2, 0.5},  // 3 of 6 seconds
                 {{4, 40}, {}, "", 0, 0},
                 {{0.5, 0.6}, {}, "", 0, 0},
                 {{}, {4, 1}, "", 0, 0},  // the first request is not over
                 {{}, {4, 3}, R"({"HttpLevel":1})", 4, 0.75},
                 {{4, 6}, {4, 4}, R"({"ArchiveLevel":1,"HttpLevel":1})", 2.5, 0.6}};

    for (const auto& one : cases)
    {
      evidence_.deflated = {one.archives, one.files};
      EXPECT_EQ(*one.levels != '\0', IsFound()) << one.levels;

      if (*one.levels != '\0')
      {
        const Finding finding = Judge("answer-compression");
        EXPECT_EQ(one.levels, ToText(finding.remedy.document["Answers"]));
        EXPECT_DOUBLE_EQ(one.gain, *finding.cost.gain);
        EXPECT_DOUBLE_EQ(one.share, finding.cost.shareOfIngestTime);
      }
    }

    Judge("answer-compression", {{"DeflateTime", 8}, {"DeflateShare", 0.8}});
    evidence_.tuning.answers.httpLevel = 6;
    EXPECT_EQ(R"({"ArchiveLevel":1})",
              ToText(Judge("answer-compression").remedy.document["Answers"]));
  }

  TEST_F(ServerRulesTest, ALargeStoreNeedsAChecklist)
  {
    facts_.storedInstances = 99'999;
    EXPECT_FALSE(IsFound());
    facts_.storedInstances = 100'000;

    for (const char* const version : {"1.10.1", "1.12.7", "1.13.0"})
    {
      facts_.orthancVersion = version;
      EXPECT_EQ((std::set<std::string>{"storage-access-on-find"}), ListChecklist());
    }

    // Files that are read for answers are read for queries since 1.12.5
    configuration_["StorageAccessOnFind"] = "Answers";
    facts_.orthancVersion = "1.12.4";
    EXPECT_EQ(0U, ListChecklist().count("storage-access-on-find"));
    facts_.orthancVersion = "1.12.5";
    EXPECT_EQ(1U, ListChecklist().count("storage-access-on-find"));
    configuration_["PostgreSQL"] = false;  // a section that is none
    EXPECT_EQ(1U, ListChecklist().size());
  }

  TEST_F(ServerRulesTest, SlowLookupsNeedTheIndexOfANewerRelease)
  {
    facts_.storedInstances = 20'000;
    facts_.lookupTime = 0.014;
    facts_.indexFile = "/var/lib/orthanc/db-v6/index";
    facts_.orthancVersion = "1.12.9";
    facts_.hasDatabasePlugin = false;
    const Finding finding = Judge();
    EXPECT_EQ("sqlite-lookup-index", finding.id);
    EXPECT_EQ("SQLite takes 14 ms to find an image by its UID", finding.title);
    EXPECT_EQ("1.12.9", finding.evidence["Release"].asString());
    EXPECT_TRUE(Has(finding.remedy.text, "sqlite3 '/var/lib/orthanc/db-v6/index' '"));
    ExpectNothing("", "a newer release", [this] { facts_.orthancVersion = "1.12.10"; });
    ExpectNothing("", "fast ones", [this] { facts_.lookupTime = 0.002; });
    ExpectNothing("", "unknown ones", [this] { facts_.lookupTime.reset(); });
    ExpectNothing("", "another database", [this] { facts_.hasDatabasePlugin = true; });
    ExpectNothing("", "a read-only server", [this] { facts_.indexFile.clear(); });
  }

  TEST_F(ServerRulesTest, AStoreOfManyInstancesNeedsAnotherDatabase)
  {
    facts_.hasDatabasePlugin = false;
    facts_.storedInstances = 49'999;
    EXPECT_FALSE(IsFound());
    facts_.storedInstances = 50'000;
    EXPECT_EQ(1U, ListChecklist().count("sqlite-large"));
    facts_.hasDatabasePlugin = true;
    EXPECT_FALSE(IsFound());
  }

  TEST_F(ServerRulesTest, WhatTheChecklistProposesEndsItsFindings)
  {
    facts_.storedInstances = 100'000;
    facts_.orthancVersion = "1.10.1";
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

    EXPECT_FALSE(IsFound());
  }

  TEST(ServerFacts, ReadsTheKernelsLimitsAndCountsTheTasksThatWantAProcessor)
  {
    EXPECT_GE(ReadRunnableTasks(), 0);
    EXPECT_LT(ReadRunnableTasks(), 1e4);
    EXPECT_GE(KernelLimits::Read().largestReceiveBuffer, 4096U);
    EXPECT_GE(KernelLimits::Read().largestSendBuffer, 4096U);
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
}
