// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    class FailuresRuleTest : public RuleTest
    {
    protected:
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
    };

    class StuckRuleTest : public RuleTest
    {
    };
  }

  TEST_F(FailuresRuleTest, NamesWhatWasLostAndWhy)
  {
    Receive(0, 3);
    const Finding finding = Judge("failed-instances");
    EXPECT_EQ("failed-instances", finding.id);
    EXPECT_EQ("Orthanc failed to store 100 % of the latest images", finding.title);
    EXPECT_EQ(3, finding.evidence["Failed"].asInt());
    EXPECT_DOUBLE_EQ(1, finding.evidence["FailedShare"].asDouble());
    EXPECT_EQ(evidence_.latestFailure, finding.evidence["Reason"].asString());
    EXPECT_DOUBLE_EQ(1, finding.cost.shareOfIngestTime);
    EXPECT_EQ("System", finding.remedy.kind);
  }

  TEST_F(FailuresRuleTest, IsSilentOnFewFailures)
  {
    ExpectNothing("failed-instances", "two", [this] { Receive(0, 2); });
    ExpectNothing("failed-instances", "few of many hundreds",
                  [this]
                  {
                    SetTraffic(MakeHealthy(), 1000);
                    evidence_.received.ownFailures = 5;
                  });
    ExpectNothing("stuck-instances", "none", [this] { SetTraffic(MakeHealthy()); });
  }

  TEST_F(FailuresRuleTest, FadesOnceInstancesAreStoredAgain)
  {
    Receive(20, 20, 20);
    EXPECT_LT(Judge("failed-instances").evidence["FailedShare"].asDouble(), 0.5);
    evidence_.received = {};
    Receive(20, 20, 200);
    EXPECT_FALSE(IsFound("failed-instances"));
  }

  TEST_F(StuckRuleTest, NamesWhereTheLongestOfThemIs)
  {
    using std::chrono::seconds;
    evidence_.stuck = {{Phase::Index, seconds(12)}, {Phase::Storage, seconds(31)}};
    const Finding finding = Judge("stuck-instances");
    EXPECT_EQ("stuck-instances", finding.id);
    EXPECT_EQ("Instances in flight wait for the storage: 2, the oldest for 31 s", finding.title);
    EXPECT_EQ(2, finding.evidence["Instances"].asInt());
    EXPECT_EQ("storage", finding.evidence["Phase"].asString());
    EXPECT_DOUBLE_EQ(31, finding.evidence["LongestTime"].asDouble());
    EXPECT_DOUBLE_EQ(1, finding.cost.shareOfIngestTime);
    EXPECT_NE(std::string::npos, finding.remedy.text.find("StorageDirectory"));

    SetTraffic(MakeHealthy());
    EXPECT_LT(Judge("stuck-instances").cost.shareOfIngestTime, 1);
  }

  TEST_F(StuckRuleTest, EachPhaseHasItsRemedy)
  {
    const auto advise = [this](Phase phase)
    {
      evidence_.stuck = {{phase, std::chrono::seconds(12)}};
      return Judge("stuck-instances").remedy.text;
    };
    EXPECT_NE(std::string::npos, advise(Phase::Index).find("IndexDirectory"));
    EXPECT_NE(std::string::npos, advise(Phase::Commit).find("storage and database"));
    EXPECT_NE(std::string::npos, advise(Phase::Prepare).find("Lua"));
  }
}
