// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    class Md5RuleTest : public RuleTest
    {
    protected:
      // 15 MB: 45 ms of MD5, 15 ms of copies
      static Sample MakeLarge()
      {
        Sample sample;
        sample.phases = {
            {Phase::Receive, 20}, {Phase::Prepare, 60}, {Phase::Storage, 10}, {Phase::Index, 2}};
        sample.size = 15'000'000;
        return sample;
      }
    };
  }

  TEST_F(Md5RuleTest, FindsThemWithLargeInstances)
  {
    SetTraffic(MakeLarge());
    const Finding finding = Judge("md5");
    EXPECT_EQ("md5", finding.id);
    EXPECT_NEAR(0.045, finding.evidence["EstimatedHashing"].asDouble(), 1e-6);
    EXPECT_NEAR(45 / 92.0, finding.evidence["HashingShare"].asDouble(), 1e-6);
    EXPECT_FALSE(finding.remedy.document["StoreMD5ForAttachments"].asBool());
  }

  // 720 MB/s for MD5 and copies, as measured
  TEST_F(Md5RuleTest, FindsThemOnAFastProcessor)
  {
    Sample sample;
    sample.phases = {
        {Phase::Receive, 2.5}, {Phase::Prepare, 11.7}, {Phase::Storage, 4}, {Phase::Index, 2.2}};
    sample.size = 8'400'000;
    SetTraffic(sample);
    EXPECT_TRUE(IsFound("md5"));
  }

  TEST_F(Md5RuleTest, ProposesNoConfigurationWithWhichOrthancDoesNotStart)
  {
    SetTraffic(MakeLarge());
    evidence_.facts.orthancVersion = "1.13.0";
    EXPECT_FALSE(Judge("md5").remedy.document.isMember("OverwriteInstances"));
    evidence_.facts.configuration["OverwriteInstances"] = "IfChanged";
    EXPECT_FALSE(IsFound("md5"));
  }

  TEST_F(Md5RuleTest, IsSilentWhereSumsAreOffOrWorthTheirTime)
  {
    Sample timeless;  // all are refused or held already, and there is no probe
    timeless.size = 15'000'000;
    ExpectNothing("md5", "small instances", [this] { SetTraffic(MakeHealthy()); });
    ExpectNothing("md5", "too few instances", [this] { SetTraffic(MakeLarge(), FEW); });
    ExpectNothing("md5", "no time", [&] { SetTraffic(timeless); });
    ExpectNothing("md5", "off",
                  [this]
                  {
                    SetTraffic(MakeLarge());
                    evidence_.facts.configuration["StoreMD5ForAttachments"] = false;
                  });
  }

  // 3 MB: MD5 takes 12 ms on a slow processor
  TEST_F(Md5RuleTest, IsNotBlamedForWhatAnotherPluginsFilterOrCompressionTakes)
  {
    Sample sample;
    sample.phases = {{Phase::Receive, 3}, {Phase::Prepare, 112}, {Phase::Storage, 7}};
    sample.size = 3'000'000;
    SetTraffic(sample);
    EXPECT_FALSE(IsFound("md5"));

    sample.phases[1].second = 22;
    SetTraffic(sample);
    EXPECT_NEAR(0.012, Judge("md5").evidence["EstimatedHashing"].asDouble(), 1e-6);
  }
}
