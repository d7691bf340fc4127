// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    class DicomThreadsRuleTest : public RuleTest
    {
    protected:
      DicomThreadsRuleTest()
      {
        evidence_.facts.cores = 4;
        evidence_.load = {15, 9.5, 4.2};
        SetTraffic(MakeHealthy());
      }
    };
  }

  TEST_F(DicomThreadsRuleTest, FindsAssociationsThatWaitForAThread)
  {
    const Finding finding = Judge("dicom-threads");
    EXPECT_EQ("dicom-threads", finding.id);
    EXPECT_EQ(4, finding.evidence["DicomThreadsCount"].asInt());
    EXPECT_DOUBLE_EQ(9.5, finding.evidence["OpenAssociations"].asDouble());
    EXPECT_DOUBLE_EQ(4.2, finding.evidence["WaitingAssociations"].asDouble());
    EXPECT_EQ(10, finding.remedy.document["DicomThreadsCount"].asInt());
  }

  TEST_F(DicomThreadsRuleTest, AsksForNoMoreThreadsThanTheCoresCanServe)
  {
    evidence_.load.associations = 200;
    EXPECT_EQ(16, Judge("dicom-threads").remedy.document["DicomThreadsCount"].asInt());
    evidence_.facts.configuration["DicomThreadsCount"] = 16;
    EXPECT_FALSE(IsFound("dicom-threads"));
  }

  TEST_F(DicomThreadsRuleTest, IsSilentWhereNobodyWaitsAndAfterAFewLooks)
  {
    ExpectNothing("dicom-threads", "all are served", [this] { evidence_.load.waiting = 0.1; });
    ExpectNothing("dicom-threads", "four looks", [this] { evidence_.load.looks = 4; });
  }
}
