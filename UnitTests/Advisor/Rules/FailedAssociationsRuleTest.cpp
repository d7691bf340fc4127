// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    class FailedAssociationsRuleTest : public RuleTest
    {
    protected:
      void AddFailures(std::uint64_t count, AssociationOutcome outcome,
                       Direction direction = Direction::Send)
      {
        PeerEvidence& peer = AddPeer(MakeHealthy(), MANY, direction);
        peer.failed = {count, outcome,
                       outcome == AssociationOutcome::Rejected ? "called AE title not recognized"
                                                               : ""};
      }
    };
  }

  TEST_F(FailedAssociationsRuleTest, FindsEachReasonAndPromisesNothing)
  {
    for (const AssociationOutcome outcome :
         {AssociationOutcome::Refused, AssociationOutcome::TimedOut,
          AssociationOutcome::Unreachable, AssociationOutcome::Unresolved,
          AssociationOutcome::TlsFailed, AssociationOutcome::Rejected,
          AssociationOutcome::Incomplete})
    {
      evidence_.peers.clear();
      AddFailures(3, outcome);
      const Finding finding = Judge("failed-associations");
      EXPECT_EQ(ToLabel(outcome), finding.evidence["Outcome"].asString());
      EXPECT_EQ(3U, finding.evidence["Failures"].asUInt());
      EXPECT_EQ(std::string::npos, finding.explanation.find('{')) << finding.explanation;
      EXPECT_EQ(0, finding.cost.shareOfIngestTime);
    }
  }

  TEST_F(FailedAssociationsRuleTest, SaysWhyItWasRejected)
  {
    AddFailures(4, AssociationOutcome::Rejected);
    const Finding finding = Judge("failed-associations");
    EXPECT_EQ("called AE title not recognized", finding.evidence["Rejection"].asString());
    EXPECT_NE(std::string::npos, finding.explanation.find("called AE title not recognized"));
  }

  TEST_F(FailedAssociationsRuleTest, TwoMayBeAnAccidentAndCallersAreNoDestinations)
  {
    AddFailures(2, AssociationOutcome::Refused);
    AddFailures(9, AssociationOutcome::Rejected, Direction::Receive);
    EXPECT_FALSE(IsFound("failed-associations"));
  }
}
