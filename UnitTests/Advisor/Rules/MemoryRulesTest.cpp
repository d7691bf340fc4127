// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint64_t MEBIBYTE = std::uint64_t{1} << 20;

    class MemoryCachesTest : public RuleTest
    {
    protected:
      MemoryCachesTest()
      {
        evidence_.facts.orthancVersion = "1.13.0";
        evidence_.facts.memory = 2048 * MEBIBYTE;
      }

      Json::Value& configuration_ = evidence_.facts.configuration;
    };

    class IngestMemoryTest : public RuleTest
    {
    protected:
      // Ten images of 100 MB, one second each
      IngestMemoryTest()
      {
        evidence_.facts.memory = 3072 * MEBIBYTE;
        evidence_.facts.orthancVersion = "1.10.1";
        SetTraffic({{{Phase::Receive, 1000}}, 100'000'000}, 10);
      }

      void Wait(double seconds)
      {
        memory_.budget = 768 * MEBIBYTE;
        memory_.waits = 3;
        memory_.waited = seconds;
        memory_.received = 10;
      }

      bool IsLongerWaitAdvised() const
      {
        return Has(Judge("ingest-memory").remedy.text, "IngestWaitSeconds");
      }

      double GetShare() const
      {
        return Judge("ingest-memory").cost.shareOfIngestTime;
      }

      MemoryEvidence& memory_ = evidence_.memory;
    };
  }

  TEST_F(MemoryCachesTest, TheDefaultsOf1130AreTooMuchForASmallContainer)
  {
    ExpectNothing("memory-limit", "a larger one",
                  [this] { evidence_.facts.memory = 4096 * MEBIBYTE; });
    ExpectNothing("memory-limit", "an unknown one", [this] { evidence_.facts.memory = 0; });
    const Finding finding = Judge("memory-limit");
    EXPECT_EQ("Orthanc's caches may take 1664.0 MiB of 2048.0 MiB of memory", finding.title);
    EXPECT_EQ(512 << 20, finding.evidence["StorageMemoryCapacity"].asInt());
    EXPECT_EQ(128 << 20, finding.evidence["MaximumStorageCacheSize"].asInt());
    EXPECT_EQ(7U, finding.evidence.size());

    for (const std::string& name : finding.remedy.document.getMemberNames())
    {
      configuration_[name] = finding.remedy.document[name];
    }

    EXPECT_FALSE(IsFound("memory-limit"));
  }

  TEST_F(MemoryCachesTest, ACacheThatIsOffStaysOffAndOlderReleasesHaveOneOption)
  {
    configuration_["TranscoderCacheSize"] = 0;
    EXPECT_EQ(0, Judge("memory-limit").remedy.document["TranscoderCacheSize"].asInt());

    evidence_.facts.orthancVersion = "1.12.11";
    EXPECT_FALSE(IsFound("memory-limit"));
    configuration_["MaximumStorageCacheSize"] = 1500;
    configuration_["TranscoderCacheSize"] = 1500;
    EXPECT_EQ(std::vector<std::string>{"MaximumStorageCacheSize"},
              Judge("memory-limit").remedy.document.getMemberNames());
  }

  TEST_F(IngestMemoryTest, WaitsForMemoryAreAFinding)
  {
    Wait(4);
    const Finding finding = Judge("ingest-memory", {{"Waits", 3},
                                                    {"Waited", 4},
                                                    {"GivenUp", 0},
                                                    {"IngestBudget", 768 * MEBIBYTE},
                                                    {"Memory", 3072 * MEBIBYTE}});
    EXPECT_EQ("System", finding.remedy.kind);
    EXPECT_FALSE(IsLongerWaitAdvised());

    // Compared with what came in the same minutes, which the traffic's sums are no measure of
    EXPECT_DOUBLE_EQ(0.4, GetShare());
    memory_.received = 50;
    EXPECT_DOUBLE_EQ(0.08, GetShare());
    memory_.received = 2;  // what waits is not over
    EXPECT_DOUBLE_EQ(1, GetShare());
    ExpectNothing("ingest-memory", "much traffic", [this] { memory_.received = 100; });
    ExpectNothing("ingest-memory", "a short one", [this] { Wait(0.1); });
    ExpectNothing("ingest-memory", "silence", [this] { SetTraffic({}, 0); });
    ExpectNothing("ingest-memory", "small images later on",  // waits and what came fade alike
                  [this]
                  {
                    Wait(0.004);
                    memory_.received = 0.01;
                    SetTraffic({{{Phase::Receive, 1000}}, 1000}, 10);
                  });
  }

  TEST_F(IngestMemoryTest, WhereTheyWaitedForAsLongAsTheyMayALongerWaitHelps)
  {
    Wait(0.1);
    memory_.givenUp = 1;
    Judge("ingest-memory", {{"GivenUp", 1}});
    EXPECT_TRUE(IsLongerWaitAdvised());
  }

  TEST_F(IngestMemoryTest, WhereNoneBeganToWaitLatelyItTellsWhatHappened)
  {
    Wait(0);
    memory_.waits = 0;
    EXPECT_FALSE(IsFound("ingest-memory"));
    memory_.givenUp = 2;
    EXPECT_TRUE(IsFound("ingest-memory"));
    memory_.givenUp = 0;
    memory_.waited = 5;
    EXPECT_EQ("Large messages lately waited 5 s for memory", Judge("ingest-memory").title);
  }

  TEST_F(IngestMemoryTest, WithoutABudgetAProcessThatHadAlmostAllIsProposedOne)
  {
    ExpectNothing("ingest-memory", "no peak", [] {});
    ExpectNothing("ingest-memory", "a peak", [this] { memory_.recentPeak = 2000 * MEBIBYTE; });
    memory_.recentPeak = 2500 * MEBIBYTE;
    ExpectNothing("ingest-memory", "small images", [this] { SetTraffic(MakeHealthy()); });
    ExpectNothing("ingest-memory", "an unknown limit", [this] { evidence_.facts.memory = 0; });
    const Finding finding = Judge("ingest-memory");
    EXPECT_EQ((MemoryAmount{0, 25}), Apply(finding).memory.ingestBudget);
    EXPECT_EQ("Orthanc used 2500.0 MiB of 3072.0 MiB of memory while large images arrived",
              finding.title);

    memory_.canWait = false;  // without the probe
    EXPECT_EQ("System", Judge("ingest-memory").remedy.kind);
  }

  // Caches may have the rest, or other plugins
  TEST_F(IngestMemoryTest, OnlyLargeImagesThatAreMuchOfThePeakAreBlamedAndNoSmallOnesHideThem)
  {
    memory_.recentPeak = 2500 * MEBIBYTE;
    SetTraffic({{{Phase::Receive, 100}}, 5'000'000, 0, 0, 25}, 100);  // four at once
    EXPECT_FALSE(IsFound("ingest-memory"));
    SetTraffic({{{Phase::Receive, 1000}}, 100'000'000, 0, 0, 1000}, 10);  // one after the other
    EXPECT_FALSE(IsFound("ingest-memory"));
    SetTraffic({{{Phase::Receive, 1000}}, 300'000'000, 0, 0, 1000}, 10);
    EXPECT_TRUE(IsFound("ingest-memory"));

    SetTraffic({{{Phase::Receive, 1}}, 500'000}, 1500);

    for (int i = 0; i < 10; i++)
    {
      evidence_.received.Add(ToInstance({{{Phase::Receive, 1000}}, 500'000'000}));
    }

    evidence_.received.activeSeconds += 10;
    EXPECT_NEAR(500e6, Judge("ingest-memory").evidence["MeanSize"].asDouble(), 1e6);
  }
}
