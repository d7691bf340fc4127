// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint64_t GIBIBYTE = 1024ULL * 1024 * 1024;

    class MemoryRuleTest : public RuleTest
    {
    protected:
      MemoryRuleTest()
      {
        evidence_.facts.orthancVersion = "1.13.0";
        evidence_.facts.memory = 2 * GIBIBYTE;
      }
    };
  }

  TEST_F(MemoryRuleTest, TheDefaultsOf1130AreTooMuchForASmallContainer)
  {
    const Finding finding = Judge("memory-limit");
    EXPECT_EQ("memory-limit", finding.id);
    EXPECT_EQ("Orthanc's caches may take 1664.0 MiB of 2048.0 MiB of memory", finding.title);
    EXPECT_EQ(512 << 20, finding.evidence["StorageMemoryCapacity"].asInt());
    EXPECT_EQ(128 << 20, finding.evidence["MaximumStorageCacheSize"].asInt());
    EXPECT_EQ(7U, finding.evidence.size());

    ExpectNothing("memory-limit", "a larger one",
                  [this] { evidence_.facts.memory = 4 * GIBIBYTE; });
    ExpectNothing("memory-limit", "an unknown one", [this] { evidence_.facts.memory = 0; });

    for (const std::string& name : finding.remedy.document.getMemberNames())
    {
      evidence_.facts.configuration[name] = finding.remedy.document[name];
    }

    EXPECT_FALSE(IsFound("memory-limit"));
  }

  TEST_F(MemoryRuleTest, ACacheThatIsOffStaysOff)
  {
    evidence_.facts.configuration["TranscoderCacheSize"] = 0;
    EXPECT_EQ(0, Judge("memory-limit").remedy.document["TranscoderCacheSize"].asInt());
  }

  TEST_F(MemoryRuleTest, OlderReleasesHaveOneOfTheseOptions)
  {
    evidence_.facts.orthancVersion = "1.12.11";
    EXPECT_FALSE(IsFound("memory-limit"));

    evidence_.facts.configuration["MaximumStorageCacheSize"] = 1500;
    evidence_.facts.configuration["TranscoderCacheSize"] = 1500;
    const Finding finding = Judge("memory-limit");
    EXPECT_EQ(std::vector<std::string>{"MaximumStorageCacheSize"},
              finding.remedy.document.getMemberNames());
  }
}
