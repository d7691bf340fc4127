// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    class AssociationSetupRuleTest : public RuleTest
    {
    protected:
      void AddSetups(std::initializer_list<double> setups, Direction direction)
      {
        PeerEvidence& peer = AddPeer(MakeHealthy(), MANY, direction);

        for (const double setup : setups)
        {
          peer.setups.push_back(ToDuration(Milliseconds(setup)));
        }
      }
    };
  }

  TEST_F(AssociationSetupRuleTest, FindsTheSecondOfAMovescuThatReceivesItsOwnImages)
  {
    AddSetups({1001, 1003, 1002, 3}, Direction::Send);
    const Finding finding = Judge("slow-association");
    EXPECT_EQ("slow-association-sending", finding.id);
    EXPECT_NEAR(1.002, finding.evidence["MedianSetupTime"].asDouble(), 1e-6);
    EXPECT_NE(std::string::npos, finding.explanation.find("movescu"));
    EXPECT_EQ("Peer", finding.remedy.kind);
    EXPECT_GT(finding.cost.shareOfIngestTime, 0.5);
  }

  TEST_F(AssociationSetupRuleTest, FindsSlowNamesInBothDirections)
  {
    AddSetups({5002, 5003, 5001}, Direction::Receive);
    EXPECT_EQ("slow-association", Judge("slow-association").id);
  }

  TEST_F(AssociationSetupRuleTest, IsSilentOnAccidentsAndDistance)
  {
    ExpectNothing("slow-association", "one of four",
                  [this] {
                    AddSetups({4, 5000, 3, 3}, Direction::Receive);
                  });
    ExpectNothing("slow-association", "two only",
                  [this] {
                    AddSetups({1001, 1002}, Direction::Send);
                  });
    ExpectNothing("slow-association", "a distance",
                  [this]
                  {
                    AddSetups({1250, 1260, 1255}, Direction::Send);
                    SetTcp(evidence_.peers[0], 600, 65536);
                  });
  }
}
