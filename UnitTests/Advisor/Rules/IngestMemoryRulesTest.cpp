// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint64_t MEBIBYTE = std::uint64_t{1} << 20;

    class IngestMemoryRulesTest : public RuleTest
    {
    protected:
      // Ten images of 100 MB, one second each
      IngestMemoryRulesTest()
      {
        evidence_.facts.memory = 3072 * MEBIBYTE;
        SetTraffic({{{Phase::Receive, 1000}}, 100'000'000}, 10);
      }

      void Wait(double seconds)
      {
        evidence_.memory.budget = 768 * MEBIBYTE;
        evidence_.memory.waits = 3;
        evidence_.memory.waited = seconds;
      }

      void Keep(std::uint64_t kept, std::uint64_t used)
      {
        evidence_.memory.kept = kept * MEBIBYTE;
        evidence_.memory.used = used * MEBIBYTE;
      }
    };
  }


  TEST_F(IngestMemoryRulesTest, WaitsForMemoryAreAFinding)
  {
    Wait(4);
    const Finding finding = Judge(&JudgeIngestMemory);
    EXPECT_EQ("ingest-memory", finding.id);
    EXPECT_EQ(3U, finding.evidence["Waits"].asUInt());
    EXPECT_EQ(4, finding.evidence["Waited"].asDouble());
    EXPECT_EQ(0U, finding.evidence["GivenUp"].asUInt());
    EXPECT_EQ(768 * MEBIBYTE, finding.evidence["IngestBudget"].asUInt64());
    EXPECT_EQ(3072 * MEBIBYTE, finding.evidence["Memory"].asUInt64());
    EXPECT_LT(0.2, finding.cost.shareOfIngestTime);
    EXPECT_EQ(Remedy::Kind::System, finding.remedy.kind);
  }


  TEST_F(IngestMemoryRulesTest, ShortWaitsAreNone)
  {
    Wait(0.1);
    EXPECT_FALSE(IsFound(&JudgeIngestMemory));
    evidence_.memory.givenUp = 1;
    EXPECT_TRUE(IsFound(&JudgeIngestMemory));
  }


  TEST_F(IngestMemoryRulesTest, WithoutABudgetAProcessThatHadAlmostAllIsProposedOne)
  {
    evidence_.memory.recentPeak = 2500 * MEBIBYTE;
    const Finding finding = Judge(&JudgeIngestMemory);
    EXPECT_EQ("ingest-memory", finding.id);
    EXPECT_EQ((MemoryAmount{0, 25}), Apply(finding).memory.ingestBudget);
  }


  TEST_F(IngestMemoryRulesTest, SmallImagesBesideThemDoNotHideTheLargeOnes)
  {
    SetTraffic({{{Phase::Receive, 1}}, 500'000}, 1500);
    evidence_.totals[0].Append(MakeTraffic({{{Phase::Receive, 1000}}, 500'000'000}, 10));
    evidence_.memory.recentPeak = 2500 * MEBIBYTE;
    const Finding finding = Judge(&JudgeIngestMemory);
    EXPECT_NEAR(500e6, finding.evidence["MeanSize"].asDouble(), 1e6);
  }


  TEST_F(IngestMemoryRulesTest, WithoutABudgetNothingElseIsFound)
  {
    EXPECT_FALSE(IsFound(&JudgeIngestMemory));
    evidence_.memory.recentPeak = 2000 * MEBIBYTE;
    EXPECT_FALSE(IsFound(&JudgeIngestMemory));
    evidence_.memory.recentPeak = 2500 * MEBIBYTE;
    SetTraffic(MakeHealthy());  // small images
    EXPECT_FALSE(IsFound(&JudgeIngestMemory));
    SetTraffic({{{Phase::Receive, 1000}}, 100'000'000}, 10);
    evidence_.facts.memory = 0;
    EXPECT_FALSE(IsFound(&JudgeIngestMemory));
  }


  TEST_F(IngestMemoryRulesTest, MemoryThatIsKeptIsAFinding)
  {
    Keep(600, 200);
    const Finding finding = Judge(&JudgeKeptMemory);
    EXPECT_EQ("kept-memory", finding.id);
    EXPECT_EQ("Orthanc keeps 600.0 MiB of memory that it does not use", finding.title);
    EXPECT_EQ(600 * MEBIBYTE, finding.evidence["Kept"].asUInt64());
    EXPECT_EQ(200 * MEBIBYTE, finding.evidence["Used"].asUInt64());
  }


  TEST_F(IngestMemoryRulesTest, MemoryThatIsKeptIsFarMoreThanWhatIsUsed)
  {
    Keep(200, 100);
    EXPECT_FALSE(IsFound(&JudgeKeptMemory));
    Keep(600, 700);
    EXPECT_FALSE(IsFound(&JudgeKeptMemory));
  }
}
