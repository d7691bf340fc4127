// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/OutcomeJudge.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    constexpr OtherFilters OTHERS = {true, false};


    IngestEvidence Seen(Origin origin, bool filter, bool cstoreFilter)
    {
      IngestEvidence evidence;
      evidence.origin = origin;
      evidence.filterReached = filter;
      evidence.cstoreFilterReached = cstoreFilter;
      return evidence;
    }
  }

  TEST(OutcomeJudge, WhatIsNotDicomHasFailed)
  {
    IngestEvidence evidence;
    evidence.problem = "not DICOM";
    const Verdict verdict = JudgeOutcome(evidence, OTHERS);
    EXPECT_EQ(verdict.outcome, Outcome::Failed);
    EXPECT_FALSE(verdict.mayBeInStore);
    EXPECT_STREQ("not DICOM", verdict.reason);
  }

  TEST(OutcomeJudge, AReadableInstanceThatMissedOurFilterWasDiscardedOrIsInTheStore)
  {
    const Verdict verdict = JudgeOutcome(Seen(Origin::RestApi, false, false), OTHERS);
    EXPECT_EQ(verdict.outcome, Outcome::Discarded);
    EXPECT_TRUE(verdict.mayBeInStore);
  }

  TEST(OutcomeJudge, NobodyDiscardsWhereThereIsNoOtherFilter)
  {
    const Verdict verdict = JudgeOutcome(Seen(Origin::RestApi, false, false), {});
    EXPECT_EQ(verdict.outcome, Outcome::Failed);
    EXPECT_TRUE(verdict.mayBeInStore);
  }

  TEST(OutcomeJudge, AnUploadThatPassedAllFiltersFailedInTheStorage)
  {
    EXPECT_EQ(JudgeOutcome(Seen(Origin::RestApi, true, false), OTHERS).outcome, Outcome::Failed);
  }

  TEST(OutcomeJudge, ACStoreThatMissedOurCStoreFilterWasDiscardedByAnother)
  {
    EXPECT_EQ(JudgeOutcome(Seen(Origin::DicomProtocol, true, false), OTHERS).outcome,
              Outcome::Discarded);
    EXPECT_EQ(JudgeOutcome(Seen(Origin::DicomProtocol, true, true), OTHERS).outcome,
              Outcome::Failed);
  }

  // Orthanc takes the first answer of a C-STORE filter for the last word
  TEST(OutcomeJudge, ACStoreThatAnotherCStoreFilterMayHaveAcceptedHasFailed)
  {
    const Verdict verdict = JudgeOutcome(Seen(Origin::DicomProtocol, true, false), {true, true});
    EXPECT_EQ(verdict.outcome, Outcome::Failed);
    EXPECT_STREQ("storage or database failed, or another plugin's C-STORE filter refused it",
                 verdict.reason);
  }
}
