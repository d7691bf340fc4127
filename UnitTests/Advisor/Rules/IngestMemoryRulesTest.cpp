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
        evidence_.facts.orthancVersion = "1.10.1";
        SetTraffic({{{Phase::Receive, 1000}}, 100'000'000}, 10);
      }

      void Wait(double seconds)
      {
        evidence_.memory.budget = 768 * MEBIBYTE;
        evidence_.memory.waits = 3;
        evidence_.memory.waited = seconds;
        evidence_.memory.received = 10;
      }

      bool IsAdvised(const std::string& key) const
      {
        return Judge("ingest-memory").remedy.text.find(key) != std::string::npos;
      }
    };
  }

  TEST_F(IngestMemoryRulesTest, WaitsForMemoryAreAFinding)
  {
    Wait(4);
    const Finding finding = Judge("ingest-memory");
    EXPECT_EQ("ingest-memory", finding.id);
    EXPECT_EQ(3U, finding.evidence["Waits"].asUInt());
    EXPECT_EQ(4, finding.evidence["Waited"].asDouble());
    EXPECT_EQ(0U, finding.evidence["GivenUp"].asUInt());
    EXPECT_EQ(768 * MEBIBYTE, finding.evidence["IngestBudget"].asUInt64());
    EXPECT_EQ(3072 * MEBIBYTE, finding.evidence["Memory"].asUInt64());
    EXPECT_DOUBLE_EQ(0.4, finding.cost.shareOfIngestTime);
    EXPECT_EQ("System", finding.remedy.kind);
    EXPECT_FALSE(IsAdvised("IngestWaitSeconds"));
  }

  // The traffic's sums count for less and less: what is left of them is no measure of five minutes
  TEST_F(IngestMemoryRulesTest, WaitsAreComparedWithWhatCameInTheSameMinutes)
  {
    Wait(4);
    evidence_.memory.received = 100;
    EXPECT_FALSE(IsFound("ingest-memory"));
    evidence_.memory.received = 50;
    EXPECT_DOUBLE_EQ(0.08, Judge("ingest-memory").cost.shareOfIngestTime);
    evidence_.memory.received = 2;  // what waits is not over
    EXPECT_DOUBLE_EQ(1, Judge("ingest-memory").cost.shareOfIngestTime);
  }

  // Waits and what came fade alike, so that their share stays
  TEST_F(IngestMemoryRulesTest, AfterSilenceThereIsNone)
  {
    Wait(4);
    SetTraffic({}, 0);
    EXPECT_FALSE(IsFound("ingest-memory"));

    SetTraffic({{{Phase::Receive, 1000}}, 1000}, 10);
    evidence_.memory.waited /= 1000;
    evidence_.memory.received /= 1000;
    EXPECT_FALSE(IsFound("ingest-memory"));
  }

  TEST_F(IngestMemoryRulesTest, WhereTheyWaitedForAsLongAsTheyMayALongerWaitHelps)
  {
    Wait(0.1);
    EXPECT_FALSE(IsFound("ingest-memory"));  // a short one
    evidence_.memory.givenUp = 1;
    EXPECT_EQ(1, Judge("ingest-memory").evidence["GivenUp"].asInt());
    EXPECT_TRUE(IsAdvised("IngestWaitSeconds"));
  }

  TEST_F(IngestMemoryRulesTest, WhereNoneBeganToWaitLatelyItTellsWhatHappened)
  {
    Wait(0);
    evidence_.memory.waits = 0;
    EXPECT_FALSE(IsFound("ingest-memory"));

    evidence_.memory.givenUp = 2;
    EXPECT_TRUE(IsFound("ingest-memory"));

    evidence_.memory.givenUp = 0;
    evidence_.memory.waited = 5;
    EXPECT_EQ("Large messages lately waited 5 s for memory", Judge("ingest-memory").title);
  }

  TEST_F(IngestMemoryRulesTest, WithoutABudgetAProcessThatHadAlmostAllIsProposedOne)
  {
    ExpectNothing("ingest-memory", "no peak", [] {});
    ExpectNothing("ingest-memory", "a peak",
                  [this] { evidence_.memory.recentPeak = 2000 * MEBIBYTE; });
    evidence_.memory.recentPeak = 2500 * MEBIBYTE;
    ExpectNothing("ingest-memory", "small images", [this] { SetTraffic(MakeHealthy()); });
    ExpectNothing("ingest-memory", "an unknown limit", [this] { evidence_.facts.memory = 0; });
    const Finding finding = Judge("ingest-memory");
    EXPECT_EQ("ingest-memory", finding.id);
    EXPECT_EQ((MemoryAmount{0, 25}), Apply(finding).memory.ingestBudget);
    EXPECT_EQ("Orthanc used 2500.0 MiB of 3072.0 MiB of memory while large images arrived",
              finding.title);

    evidence_.memory.canWait = false;  // without the probe
    EXPECT_EQ("System", Judge("ingest-memory").remedy.kind);
  }

  // Caches may have the rest, or other plugins
  TEST_F(IngestMemoryRulesTest, LargeImagesThatAreASmallPartOfThePeakAreNotBlamed)
  {
    evidence_.memory.recentPeak = 2500 * MEBIBYTE;
    SetTraffic({{{Phase::Receive, 100}}, 5'000'000, 0, 0, 25}, 100);  // four at once
    EXPECT_FALSE(IsFound("ingest-memory"));
    SetTraffic({{{Phase::Receive, 1000}}, 100'000'000, 0, 0, 1000}, 10);  // one after the other
    EXPECT_FALSE(IsFound("ingest-memory"));
    SetTraffic({{{Phase::Receive, 1000}}, 300'000'000, 0, 0, 1000}, 10);
    EXPECT_TRUE(IsFound("ingest-memory"));
  }

  TEST_F(IngestMemoryRulesTest, SmallImagesBesideThemDoNotHideTheLargeOnes)
  {
    const FinishedInstance large = ToInstance({{{Phase::Receive, 1000}}, 500'000'000});
    SetTraffic({{{Phase::Receive, 1}}, 500'000}, 1500);

    for (int i = 0; i < 10; i++)
    {
      evidence_.received.Add(large);
    }

    evidence_.received.activeSeconds += 10;

    evidence_.memory.recentPeak = 2500 * MEBIBYTE;
    const Finding finding = Judge("ingest-memory");
    EXPECT_NEAR(500e6, finding.evidence["MeanSize"].asDouble(), 1e6);
  }
}
