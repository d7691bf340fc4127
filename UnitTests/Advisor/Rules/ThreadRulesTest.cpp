// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

#include <set>

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

    class ParallelismRuleTest : public RuleTest
    {
    public:
      // Each at work for 100 ms
      static Sample MakeParallel(double atOnce)
      {
        Sample sample;
        sample.phases = {{Phase::Receive, 5}, {Phase::Prepare, 50}, {Phase::Index, 50}};
        sample.gap = 100 / atOnce;
        return sample;
      }

    protected:
      ParallelismRuleTest()
      {
        evidence_.facts.cores = 2;
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


  // 200 associations that wait for the index, each thread with one of them
  TEST_F(DicomThreadsRuleTest, NeverAsksForTheOppositeOfParallelIngest)
  {
    for (const unsigned int cores : {1U, 2U, 3U, 4U, 16U})
    {
      evidence_.facts.cores = cores;
      std::set<int> proposed;

      for (const int threads : {1, 4, 7, 8, 11, 12, 14, 16, 24, 50, 64, 96, 100})
      {
        evidence_.facts.configuration["DicomThreadsCount"] = threads;
        evidence_.load = {15, 200, 200.0 - threads};
        SetTraffic(ParallelismRuleTest::MakeParallel(threads), 4000);
        const std::vector<Finding> more = JudgeAll("dicom-threads");
        const std::vector<Finding> fewer = JudgeAll("parallel-ingest");
        ASSERT_LE(more.size() + fewer.size(), 1U) << threads;

        for (const std::vector<Finding>& findings : {more, fewer})
        {
          for (const Finding& finding : findings)
          {
            proposed.insert(finding.remedy.document["DicomThreadsCount"].asInt());
          }
        }
      }

      EXPECT_EQ(1U, proposed.size()) << cores;
    }
  }


  TEST_F(DicomThreadsRuleTest, IsSilentWhereTooManyInstancesAreAtWorkAlready)
  {
    SetTraffic(ParallelismRuleTest::MakeParallel(30), 5000);
    EXPECT_FALSE(IsFound("dicom-threads"));
  }


  TEST_F(DicomThreadsRuleTest, OpenAssociationsThatAreServedDoNotWait)
  {
    evidence_.load.waiting = 0.1;
    EXPECT_FALSE(IsFound("dicom-threads"));
  }


  TEST_F(DicomThreadsRuleTest, IsSilentAfterAFewLooks)
  {
    evidence_.load.looks = 4;
    EXPECT_FALSE(IsFound("dicom-threads"));
  }


  TEST_F(ParallelismRuleTest, CountsInstancesAtWorkAtOnce)
  {
    SetTraffic(MakeParallel(20), 2000);
    evidence_.facts.configuration["DicomThreadsCount"] = 50;
    const Finding finding = Judge("parallel-ingest");
    EXPECT_EQ("parallel-ingest", finding.id);
    EXPECT_NEAR(20, finding.evidence["InstancesAtOnce"].asDouble(), 0.5);
    EXPECT_EQ(8, finding.remedy.document["DicomThreadsCount"].asInt());
  }


  TEST_F(ParallelismRuleTest, AsksTheClientsWhereThereAreFewThreads)
  {
    SetTraffic(MakeParallel(20), 2000);
    EXPECT_EQ("Peer", Judge("parallel-ingest").remedy.kind);
  }


  TEST_F(ParallelismRuleTest, AFewAtOnceAreWhatCoresAreFor)
  {
    SetTraffic(MakeParallel(8), 2000);
    EXPECT_FALSE(IsFound("parallel-ingest"));
  }


  TEST_F(ParallelismRuleTest, IsSilentOnAShortBurst)
  {
    SetTraffic(MakeParallel(20), 100);  // half a second
    EXPECT_FALSE(IsFound("parallel-ingest"));
  }
}
