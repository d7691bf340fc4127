// SPDX-License-Identifier: GPL-3.0-or-later
// What the table of metrics says of associations
#include "Metrics/Associations.h"
#include "Metrics/MetricTable.h"
#include "Metrics/MetricText.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    class AssociationMetricsTest : public testing::Test
    {
    protected:
      std::string Write(PeerStatistics& statistics)
      {
        MetricFigures figures;
        figures.peers = statistics.Summarize();
        figures.setups = traffic_.GetTotals().setups;
        return WriteMetrics(figures);
      }

      std::string GetText()
      {
        return Write(statistics_);
      }

      testing::AssertionResult HasLine(const std::string& line)
      {
        return HasMetric(GetText(), line);
      }

      testing::AssertionResult HasNo(const std::string& part)
      {
        const std::string text = GetText();
        return text.find(part) == std::string::npos ? testing::AssertionSuccess()
                                                    : testing::AssertionFailure() << text;
      }

      void Finish(const FinishedAssociation& association)
      {
        Journal({&statistics_, &traffic_}).Publish(association);
      }

      std::vector<OpenAssociation> open_;
      PeerStatistics statistics_{3, [this]
                                 {
                                   return open_;
                                 }};
      ServerTraffic traffic_;
    };
  }

  TEST_F(AssociationMetricsTest, NothingIsThereBeforeAnAssociationWas)
  {
    EXPECT_EQ("", GetText());
  }

  TEST_F(AssociationMetricsTest, CountsByPeerDirectionAndOutcome)
  {
    FinishedAssociation sent = MakeAssociation("CT1");
    sent.direction = Direction::Send;
    sent.outcome = AssociationOutcome::Rejected;
    Finish(MakeAssociation("CT1"));
    Finish(MakeAssociation("CT1"));
    Finish(sent);
    EXPECT_TRUE(
        HasLine(R"(associations_total{direction="receive",outcome="released",peer="CT1"} 2)"));
    EXPECT_TRUE(HasLine(R"(associations_total{direction="send",outcome="rejected",peer="CT1"} 1)"));
  }

  TEST_F(AssociationMetricsTest, AllOutcomesAreThereFromTheFirstAssociationOn)
  {
    open_ = {MakeOpenAssociation("CT1")};
    EXPECT_TRUE(HasLine(R"(associations_total{direction="receive",outcome="lost",peer="CT1"} 0)"));
    EXPECT_TRUE(HasNo(R"(direction="send")"));
  }

  TEST_F(AssociationMetricsTest, SetupTimesAreOfBothDirections)
  {
    FinishedAssociation slow = MakeAssociation("PACS");
    slow.direction = Direction::Send;
    slow.setup = std::chrono::seconds(1);
    FinishedAssociation unanswered = MakeAssociation("CT1");
    unanswered.setup.reset();
    Finish(MakeAssociation("CT1"));
    Finish(unanswered);
    Finish(slow);
    EXPECT_TRUE(HasLine(R"(association_setup_seconds_count{direction="receive"} 1)"));
    EXPECT_TRUE(HasLine(R"(association_setup_seconds_bucket{direction="send",le="0.9"} 0)"));
    EXPECT_TRUE(HasLine(R"(association_setup_seconds_bucket{direction="send",le="1.1"} 1)"));
  }

  TEST_F(AssociationMetricsTest, OpenOnesAreCountedAtTheScrapeAndZeroAfterwards)
  {
    open_ = {MakeOpenAssociation("CT1"), MakeOpenAssociation("CT1")};
    EXPECT_TRUE(HasLine(R"(associations_open{direction="receive",peer="CT1"} 2)"));
    open_.pop_back();
    Finish(MakeAssociation("CT1"));
    EXPECT_TRUE(HasLine(R"(associations_open{direction="receive",peer="CT1"} 1)"));
    open_.clear();
    Finish(MakeAssociation("CT1"));
    EXPECT_TRUE(HasLine(R"(associations_open{direction="receive",peer="CT1"} 0)"));
  }

  TEST_F(AssociationMetricsTest, WithoutAListOfThemItIsNotKnownHowManyAreOpen)
  {
    PeerStatistics statistics(3);
    statistics.OnAssociationFinished(MakeAssociation("CT1"));
    const std::string text = Write(statistics);
    EXPECT_NE(std::string::npos, text.find("associations_total"));
    EXPECT_EQ(std::string::npos, text.find("associations_open"));
  }

  TEST_F(AssociationMetricsTest, TheKernelsGaugesAreOfTheLatestFinishedAssociation)
  {
    FinishedAssociation latest = MakeAssociation("CT1");
    latest.tcp->roundTrip = std::chrono::milliseconds(250);
    Finish(MakeAssociation("CT1"));
    Finish(latest);
    EXPECT_TRUE(HasLine(R"(peer_round_trip_seconds{direction="receive",peer="CT1"} 0.25)"));
    EXPECT_TRUE(HasLine(R"(peer_send_window_bytes{direction="receive",peer="CT1"} 65535)"));
    EXPECT_TRUE(HasLine(R"(peer_receive_window_bytes{direction="receive",peer="CT1"} 131072)"));
    EXPECT_TRUE(HasLine(R"(peer_send_mss_bytes{direction="receive",peer="CT1"} 1448)"));
  }

  TEST_F(AssociationMetricsTest, CountersAreThoseOfFinishedAssociationsOnly)
  {
    Finish(MakeAssociation("CT1"));
    Finish(MakeAssociation("CT1"));
    open_ = {MakeOpenAssociation("CT1")};
    const std::string labels = R"({direction="receive",peer="CT1"} )";
    EXPECT_TRUE(HasLine("peer_retransmits_total" + labels + "10"));
    EXPECT_TRUE(HasLine("peer_receive_window_limited_seconds_total" + labels + "1"));
    EXPECT_TRUE(HasLine("peer_send_buffer_limited_seconds_total" + labels + "0.5"));
  }

  TEST_F(AssociationMetricsTest, WhatTheKernelDoesNotTellIsAbsent)
  {
    FinishedAssociation association = MakeAssociation("CT1");
    association.tcp = TcpSummary();
    association.tcp->sendMss = 1448;
    Finish(association);
    EXPECT_TRUE(HasLine(R"(peer_send_mss_bytes{direction="receive",peer="CT1"} 1448)"));
    EXPECT_TRUE(HasNo("round_trip"));
    EXPECT_TRUE(HasNo("window"));
    EXPECT_TRUE(HasNo("limited"));
  }

  TEST_F(AssociationMetricsTest, WithoutTcpInfoNothingIsSaidOfTheConnection)
  {
    FinishedAssociation association = MakeAssociation("CT1");
    association.tcp.reset();
    Finish(association);
    EXPECT_TRUE(HasNo("orthanc_perf_peer_"));
  }

  TEST_F(AssociationMetricsTest, AnUnknownPeerHasNoPeerLabel)
  {
    open_ = {MakeOpenAssociation("")};
    Finish(MakeAssociation(""));
    EXPECT_TRUE(HasLine(R"(associations_total{direction="receive",outcome="released"} 1)"));
    EXPECT_TRUE(HasLine(R"(associations_open{direction="receive"} 1)"));
  }
}
