// SPDX-License-Identifier: GPL-3.0-or-later
// What the table of metrics says of peers
#include "Metrics/Instances.h"
#include "Metrics/MetricTable.h"
#include "Metrics/MetricText.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    class PeerMetricsTest : public testing::Test
    {
    protected:
      std::string GetText()
      {
        MetricFigures figures;
        figures.peers = statistics_.Summarize();
        return WriteMetrics(figures);
      }

      testing::AssertionResult HasLine(const std::string& line)
      {
        return HasMetric(GetText(), line);
      }

      PeerStatistics statistics_{3};
    };
  }

  TEST_F(PeerMetricsTest, CountsByPeerAndDirection)
  {
    FinishedInstance sent = MakeInstance("CT1");
    sent.direction = Direction::Send;
    statistics_.OnInstanceFinished(MakeInstance("CT1"));
    statistics_.OnInstanceFinished(MakeInstance("CT1"));
    statistics_.OnInstanceFinished(sent);
    EXPECT_TRUE(HasLine("peer_instances_total{direction=\"receive\",peer=\"CT1\"} 2"));
    EXPECT_TRUE(HasLine("peer_bytes_total{direction=\"receive\",peer=\"CT1\"} 2000"));
    EXPECT_TRUE(HasLine("peer_instances_total{direction=\"send\",peer=\"CT1\"} 1"));
    EXPECT_TRUE(HasLine(
        "peer_phase_seconds_total{direction=\"receive\",peer=\"CT1\",phase=\"receive\"} 0.08"));
  }

  TEST_F(PeerMetricsTest, StallsAreAbsentUntilThereIsOne)
  {
    FinishedInstance instance = MakeInstance("CT1");
    statistics_.OnInstanceFinished(instance);
    EXPECT_EQ(std::string::npos, GetText().find("stall"));

    instance.areStallsObserved = true;
    instance.stalls = 2;
    instance.stallTime = std::chrono::milliseconds(250);
    statistics_.OnInstanceFinished(instance);
    EXPECT_TRUE(HasLine("stalls_total{direction=\"receive\",peer=\"CT1\"} 2"));
    EXPECT_TRUE(HasLine("stall_seconds_total{direction=\"receive\",peer=\"CT1\"} 0.25"));
  }

  TEST_F(PeerMetricsTest, RoundTripsAreCountedWhereTheyWereSeen)
  {
    FinishedInstance asked = MakeInstance("CT1");
    statistics_.OnInstanceFinished(asked);
    EXPECT_EQ(std::string::npos, GetText().find("round_trips_total{"));

    asked.database = ServerRecord{"10.0.0.9:5432", 12, 30, Duration::zero(), {}};
    statistics_.OnInstanceFinished(asked);
    statistics_.OnInstanceFinished(asked);
    EXPECT_TRUE(HasLine("peer_database_round_trips_total{direction=\"receive\",peer=\"CT1\"} 60"));
    EXPECT_EQ(std::string::npos, GetText().find("peer_remote_round_trips_total{"));

    asked.remote = ServerRecord{"10.0.0.8:443", -1, 2, Duration::zero(), {}};
    statistics_.OnInstanceFinished(asked);
    EXPECT_TRUE(HasLine("peer_remote_round_trips_total{direction=\"receive\",peer=\"CT1\"} 2"));
  }

  TEST_F(PeerMetricsTest, AnUnknownPeerHasNoPeerLabel)
  {
    statistics_.OnInstanceFinished(MakeInstance(""));
    EXPECT_TRUE(HasLine("peer_instances_total{direction=\"receive\"} 1"));
  }

  TEST_F(PeerMetricsTest, HostileNamesAreEscapedAndBounded)
  {
    statistics_.OnInstanceFinished(MakeInstance("\"} 1\nx{y=\"\\<b>"));
    statistics_.OnInstanceFinished(MakeInstance(std::string(65536, 'A')));
    EXPECT_TRUE(HasLine(R"(peer_instances_total{direction="receive",peer="\"} 1?x{y=\"\\<b>"} 1)"));
    EXPECT_TRUE(HasLine("peer_instances_total{direction=\"receive\",peer=\"" +
                        std::string(MAXIMUM_PEER_NAME, 'A') + "\"} 1"));
  }
}
