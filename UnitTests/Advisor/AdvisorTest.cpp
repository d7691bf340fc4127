// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Advisor.h"

#include "Advisor/RuleTest.h"
#include "Rest/RestJson.h"

namespace OrthancPerf
{
  namespace
  {
    Finding MakeFinding(const std::string& id, const std::string& peer, double share)
    {
      Finding finding;
      finding.id = id;
      finding.peer = peer;
      finding.cost.shareOfIngestTime = share;
      return finding;
    }

    class AdvisorTest : public testing::Test
    {
    protected:
      AdvisorTest()
      {
        advisor_ = std::make_unique<Advisor>(
            [] { return Evidence(); },
            std::vector<Rule>{Rule([this](const Evidence&) { return told_; })},
            [this] { return std::chrono::system_clock::time_point(now_); });
      }

      std::vector<Finding> told_;
      std::chrono::seconds now_{1'800'000'000};
      std::unique_ptr<Advisor> advisor_;
    };
  }

  TEST_F(AdvisorTest, FindingsOfTheLastDayHaveBeginAndEnd)
  {
    const std::int64_t begin = now_.count();
    told_ = {MakeFinding("a", "CT1", 0.5)};
    advisor_->Advise();
    ASSERT_EQ(1U, advisor_->GetHistory().size());
    EXPECT_TRUE(ToJson(advisor_->GetHistory()[0])["End"].isNull());

    now_ += std::chrono::seconds(100);
    told_ = {MakeFinding("b", "", 0.1)};
    advisor_->Advise();

    const std::vector<FindingRecord> history = advisor_->GetHistory();
    ASSERT_EQ(2U, history.size());
    EXPECT_EQ("b", history[0].id);
    EXPECT_FALSE(history[0].end);
    EXPECT_EQ("a", history[1].id);
    EXPECT_EQ("CT1", history[1].peer);
    EXPECT_EQ(begin, history[1].begin);
    EXPECT_EQ(begin + 100, history[1].end);

    now_ += std::chrono::hours(24) + std::chrono::seconds(1);
    advisor_->Advise();
    ASSERT_EQ(1U, advisor_->GetHistory().size());
    EXPECT_EQ("b", advisor_->GetHistory()[0].id);
  }

  TEST_F(AdvisorTest, FindingsThatComeAndGoDoNotFillTheMemoryAndWhatIsStillThereStays)
  {
    for (int i = 0; i < 2000; i++)
    {
      told_ = {MakeFinding("b", "", 0.5)};

      if (i % 2 == 0)
      {
        told_.push_back(MakeFinding("a", "CT1", 0.5));
      }

      now_ += std::chrono::seconds(5);
      advisor_->Advise();
    }

    const std::vector<FindingRecord> history = advisor_->GetHistory();
    EXPECT_EQ(Advisor::MAXIMUM_RECORDS, history.size());
    EXPECT_EQ(now_.count(), history[0].end);
    EXPECT_EQ("b", history.back().id);
    EXPECT_FALSE(history.back().end);
  }

  TEST_F(AdvisorTest, TheMostCostlyFindingComesFirstAndKeepsTheTimeAtWhichItCame)
  {
    told_ = {MakeFinding("a", "CT1", 0.1)};
    advisor_->Advise();
    now_ += std::chrono::seconds(60);
    told_ = {MakeFinding("b", "", 0.05), MakeFinding("a", "CT2", 0.1),
             MakeFinding("a", "CT1", 0.1)};
    const std::vector<Finding> findings = advisor_->Advise();
    ASSERT_EQ(3U, findings.size());
    EXPECT_EQ("CT1", findings[0].peer);
    EXPECT_EQ(1'800'000'000, findings[0].since);
    EXPECT_EQ("CT2", findings[1].peer);
    EXPECT_EQ(1'800'000'060, findings[1].since);
    EXPECT_EQ("b", findings[2].id);
    EXPECT_EQ((std::map<std::string, std::size_t>{{"a", 2}, {"b", 1}}), advisor_->CountFindings());

    told_.clear();
    EXPECT_TRUE(advisor_->Advise().empty());
    told_ = {MakeFinding("a", "CT1", 0.1)};  // is a new one
    EXPECT_EQ(1'800'000'060, advisor_->Advise()[0].since);
  }

  using AllRulesTest = RuleTest;

  TEST_F(AllRulesTest, FindNothingOnAHealthyServerAndWithoutEvidence)
  {
    evidence_.peers.resize(2);
    evidence_.peers[0].direction = Direction::Receive;
    evidence_.peers[1].direction = Direction::Send;
    EXPECT_FALSE(IsFound());

    SetTcp(AddPeer(MakeHealthy()), 0.1, 1'000'000);
    SetTraffic(MakeHealthy());
    EXPECT_FALSE(IsFound());
  }
}
