// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/MetricTable.h"

#include "Metrics/Associations.h"
#include "Metrics/Instances.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::array BOUNDS = {0.5, 1.0};

    // What the observers of the journal know, as metrics
    class MetricTableTest : public testing::Test
    {
    protected:
      std::string GetText()
      {
        MetricFigures figures = figures_;
        static_cast<ServerTotals&>(figures) = traffic_.GetTotals();
        figures.peers = statistics_.Summarize();
        figures.transcodings = transcodings_.GetTotals();
        return "\n" + WriteMetrics(figures);
      }

      // Whole lines, behind "orthanc_perf_"
      void ExpectLines(const std::vector<std::string>& lines)
      {
        const std::string text = GetText();

        for (const std::string& line : lines)
        {
          EXPECT_NE(std::string::npos, text.find("\northanc_perf_" + line + "\n")) << line << text;
        }
      }

      void ExpectNo(const std::string& part)
      {
        EXPECT_EQ(std::string::npos, GetText().find(part)) << part;
      }

      template <typename Finished>
      void Finish(const Finished& finished)
      {
        Journal({&statistics_, &traffic_}).Publish(finished);
      }

      MetricFigures figures_;
      std::vector<OpenAssociation> open_;
      PeerStatistics statistics_{3, [this]
                                 {
                                   return open_;
                                 }};
      ServerTraffic traffic_;
      TranscodingMetrics transcodings_;
    };

    TranscodingReport MakeReport(TranscodingOutcome outcome)
    {
      TranscodingReport report;
      report.outcome = outcome;
      report.engine = "native";
      report.target = "1.2.840.10008.1.2.4.70";
      report.duration = std::chrono::milliseconds(20);
      report.sourceSize = 1000;
      report.targetSize = 400;
      return report;
    }
  }

  TEST(MetricWriter, WholeNumbersAreExactUpTo2To53)
  {
    MetricWriter writer;
    writer.Begin("a_total", MetricType::Counter, "A.");
    writer.Add({}, 9007199254740991.0);
    EXPECT_NE(std::string::npos, writer.GetText().find("\na_total 9007199254740991\n"));
  }

  TEST(MetricWriter, BucketsOfAHistogramAreCumulativeUpToInfinity)
  {
    BucketHistogram<BOUNDS> histogram;
    histogram.Add(0.5);
    histogram.Add(2.25);
    histogram.Add(-1);
    MetricWriter writer;
    writer.Begin("a_seconds", MetricType::Histogram, "A.");
    writer.Add({{"x", "y"}}, histogram);
    EXPECT_EQ("# HELP a_seconds A.\n"
              "# TYPE a_seconds histogram\n"
              "a_seconds_bucket{x=\"y\",le=\"0.5\"} 2\n"
              "a_seconds_bucket{x=\"y\",le=\"1\"} 2\n"
              "a_seconds_bucket{x=\"y\",le=\"+Inf\"} 3\n"
              "a_seconds_sum{x=\"y\"} 2.75\n"
              "a_seconds_count{x=\"y\"} 3\n",
              writer.GetText());
  }

  TEST_F(MetricTableTest, HasTheBudgetThePluginItsTuningAndFindings)
  {
    EXPECT_EQ("", WriteMetrics({}));
    AdmissionFigures& budget = figures_.budget.emplace();
    budget.limit = 1000;
    budget.held = 600;
    budget.inFlight = 6;
    budget.waiting = 2;
    budget.waits = 5;
    budget.waited = std::chrono::milliseconds(1500);
    budget.givenUp = 3;
    figures_.version = "1.2.3";
    figures_.orthancVersion = "1.12.7";
    figures_.startTime = 1764000000;
    figures_.inFlight = {0, 3};
    figures_.droppedEvents = 4;
    figures_.tuning = {{"Memory.IngestWaitSeconds", 20}};
    figures_.findings = {{"delayed-ack", 2}};
    ExpectLines(
        {"ingest_budget_bytes 1000", "ingest_budget_held_bytes 600", "ingest_budget_in_flight 6",
         "ingest_budget_waiting 2", "ingest_budget_waits_total 5",
         "ingest_budget_waited_seconds_total 1.5", "ingest_budget_given_up_total 3",
         R"(build_info{orthanc="1.12.7",version="1.2.3"} 1)", "start_time_seconds 1764000000",
         R"(ingest_in_flight{origin="DicomProtocol"} 3)", "dropped_events_total 4",
         R"(tuning{setting="Memory.IngestWaitSeconds"} 20)", R"(findings{id="delayed-ack"} 2)"});
  }

  TEST_F(MetricTableTest, EachNameIsThereOnceAndCountersEndInTotal)
  {
    std::set<std::string> names;

    for (const MetricRow& row : GetMetricTable())
    {
      const std::size_t end = row.name.rfind("_total");
      const bool isTotal = end != std::string::npos && end + 6 == row.name.size();
      EXPECT_EQ(row.type == MetricType::Counter, isTotal) << row.name;
      EXPECT_TRUE(names.insert(row.name).second) << row.name;
    }
  }

  TEST_F(MetricTableTest, IngestBeginsAtZeroAndPeersWithTheirFirstInstance)
  {
    ExpectLines({R"(ingest_instances_total{origin="WebDav",outcome="failed"} 0)",
                 R"(ingest_bytes_total{origin="Unknown"} 0)"});
    ExpectNo("phase_seconds");
    FinishedInstance failed = MakeInstance("CT1");
    failed.outcome = Outcome::Failed;
    FinishedInstance sent = MakeInstance("PACS");
    sent.direction = Direction::Send;  // is no ingest
    Finish(MakeInstance("CT1"));
    Finish(failed);
    Finish(sent);
    ExpectLines(
        {R"(peer_instances_total{direction="receive",peer="CT1"} 2)",
         R"(peer_bytes_total{direction="receive",peer="CT1"} 2000)",
         R"(peer_phase_seconds_total{direction="receive",peer="CT1",phase="receive"} 0.08)",
         R"(peer_instances_total{direction="send",peer="PACS"} 1)",
         R"(ingest_instances_total{origin="DicomProtocol",outcome="stored"} 1)",
         R"(ingest_instances_total{origin="DicomProtocol",outcome="failed"} 1)",
         R"(ingest_bytes_total{origin="DicomProtocol"} 2000)",
         R"(ingest_phase_seconds_count{origin="DicomProtocol",phase="receive"} 2)",
         R"(ingest_phase_seconds_sum{origin="DicomProtocol",phase="receive"} 0.08)",
         R"(ingest_phase_seconds_bucket{origin="DicomProtocol",phase="receive",le="0.035"} 0)",
         R"(ingest_phase_seconds_bucket{origin="DicomProtocol",phase="receive",le="0.05"} 2)"});
    ExpectNo("phase=\"idle\"");  // was not observed
    EXPECT_EQ(2000U, traffic_.GetReceived().bytes);
    Finish(MakeInstance(""));  // of an unknown peer
    ExpectLines({R"(peer_instances_total{direction="receive"} 1)"});
  }

  TEST_F(MetricTableTest, StallsAndRoundTripsAreAbsentUntilThereIsOne)
  {
    FinishedInstance instance = MakeInstance("CT1");
    Finish(instance);
    ExpectNo("stall");
    ExpectNo("round_trips_total{");

    instance.areStallsObserved = true;
    instance.stalls = 2;
    instance.stallTime = std::chrono::milliseconds(250);
    instance.database = ServerRecord{"10.0.0.9:5432", 12, 30, Duration::zero(), {}};
    Finish(instance);
    ExpectLines({R"(ingest_database_queued_seconds_total{origin="DicomProtocol"} 0)"});
    ExpectNo("peer_remote_round_trips_total{");
    instance.database->queued = std::chrono::milliseconds(250);
    instance.remote = ServerRecord{"10.0.0.8:443", -1, 2, Duration::zero(), {}};
    Finish(instance);
    ExpectLines({R"(stalls_total{direction="receive",peer="CT1"} 4)",
                 R"(stall_seconds_total{direction="receive",peer="CT1"} 0.5)",
                 R"(peer_database_round_trips_total{direction="receive",peer="CT1"} 60)",
                 R"(peer_remote_round_trips_total{direction="receive",peer="CT1"} 2)",
                 R"(ingest_database_round_trips_total{origin="DicomProtocol"} 60)",
                 R"(ingest_database_queued_seconds_total{origin="DicomProtocol"} 0.25)"});
  }

  TEST_F(MetricTableTest, HostileNamesAreEscapedAndBounded)
  {
    Finish(MakeInstance("\"} 1\nx{y=\"\\<b>"));
    Finish(MakeInstance(std::string(65536, 'A')));
    ExpectLines({R"(peer_instances_total{direction="receive",peer="\"} 1?x{y=\"\\<b>"} 1)",
                 "peer_instances_total{direction=\"receive\",peer=\"" +
                     std::string(MAXIMUM_PEER_NAME, 'A') + "\"} 1"});
  }

  TEST_F(MetricTableTest, AssociationsAreCountedByPeerDirectionAndOutcome)
  {
    ExpectNo("association");
    open_ = {MakeOpenAssociation("CT1"), MakeOpenAssociation("CT1"), MakeOpenAssociation("")};
    ExpectLines({R"(associations_open{direction="receive",peer="CT1"} 2)",
                 R"(associations_open{direction="receive"} 1)",
                 R"(associations_total{direction="receive",outcome="lost",peer="CT1"} 0)",
                 R"(associations_total{direction="receive",outcome="released"} 0)"});
    ExpectNo(R"(direction="send")");

    FinishedAssociation sent = MakeAssociation("CT1");
    sent.direction = Direction::Send;
    sent.outcome = AssociationOutcome::Rejected;
    sent.setup = std::chrono::seconds(1);
    FinishedAssociation unanswered = MakeAssociation("CT1");
    unanswered.setup.reset();
    Finish(MakeAssociation("CT1"));
    Finish(unanswered);
    Finish(sent);
    open_.clear();
    ExpectLines({R"(associations_open{direction="receive",peer="CT1"} 0)",
                 R"(associations_total{direction="receive",outcome="released",peer="CT1"} 2)",
                 R"(associations_total{direction="send",outcome="rejected",peer="CT1"} 1)",
                 R"(association_setup_seconds_count{direction="receive"} 1)",
                 R"(association_setup_seconds_bucket{direction="send",le="0.9"} 0)",
                 R"(association_setup_seconds_bucket{direction="send",le="1.1"} 1)"});
  }

  TEST_F(MetricTableTest, TheKernelsGaugesAreOfTheLatestAssociationAndItsCountersOfAll)
  {
    FinishedAssociation latest = MakeAssociation("CT1");
    latest.tcp->roundTrip = std::chrono::milliseconds(250);
    Finish(MakeAssociation("CT1"));
    Finish(latest);
    const std::string labels = R"({direction="receive",peer="CT1"} )";
    ExpectLines(
        {"peer_round_trip_seconds" + labels + "0.25", "peer_send_window_bytes" + labels + "65535",
         "peer_receive_window_bytes" + labels + "131072", "peer_send_mss_bytes" + labels + "1448"});
    open_ = {MakeOpenAssociation("CT1")};  // does not count
    ExpectLines({"peer_retransmits_total" + labels + "10",
                 "peer_receive_window_limited_seconds_total" + labels + "1",
                 "peer_send_buffer_limited_seconds_total" + labels + "0.5"});
  }

  TEST_F(MetricTableTest, WhatTheKernelDoesNotTellIsAbsent)
  {
    FinishedAssociation association = MakeAssociation("CT1");
    association.tcp.reset();
    Finish(association);
    ExpectNo("peer_send_mss_bytes");
    association.tcp = TcpSummary();
    association.tcp->sendMss = 1448;
    Finish(association);
    ExpectLines({R"(peer_send_mss_bytes{direction="receive",peer="CT1"} 1448)"});

    for (const char* part : {"peer_round_trip", "window", "limited"})
    {
      ExpectNo(part);
    }
  }

  TEST_F(MetricTableTest, AFailedTranscodingIsCountedOnlyAndUnknownNamesShareALine)
  {
    transcodings_.OnTranscoding(MakeReport(TranscodingOutcome::Failed));
    TranscodingReport report = MakeReport(TranscodingOutcome::Declined);
    report.engine = "";
    report.target = "1.2.3";
    transcodings_.OnTranscoding(report);
    report.engine = "of another";
    report.target = "1.2.4";
    transcodings_.OnTranscoding(report);
    ExpectLines({R"(transcode_total{engine="native",outcome="failed",target="JPEGProcess14SV1"} 1)",
                 R"(transcode_total{engine="none",outcome="declined",target="other"} 2)"});
    ExpectNo("transcode_seconds");
    ExpectNo("transcode_bytes");
  }

  // An alert on the rise of a counter sees nothing of one that begins with the first failures
  TEST_F(MetricTableTest, FailuresOfTheTranscodingThatIsAskedForBeginAtZero)
  {
    IngestTranscoding settings;
    transcodings_.Expect(settings);
    ExpectNo("transcode");

    settings.transferSyntax = "1.2.840.10008.1.2.4.70";
    const auto expect = [&](EngineChoice choice, const std::vector<std::string>& engines)
    {
      settings.engine = choice;
      transcodings_.Expect(settings);

      for (const std::string& engine : engines)
      {
        ExpectLines({"transcode_total{engine=\"" + engine +
                     R"(",outcome="failed",target="JPEGProcess14SV1"} 0)"});
      }
    };
    expect(EngineChoice::Gdcm, {"gdcm"});
    ExpectNo("dcmtk");
    expect(EngineChoice::Automatic, {"dcmtk", "gdcm", "native"});
    ExpectNo("none");
  }

  TEST_F(MetricTableTest, ATranscodingThatSucceededHasTimeAndBytesOfBothSides)
  {
    transcodings_.OnTranscoding(MakeReport(TranscodingOutcome::Transcoded));
    transcodings_.OnTranscoding(MakeReport(TranscodingOutcome::Transcoded));
    const std::string target = R"(target="JPEGProcess14SV1"} )";
    ExpectLines({R"(transcode_total{engine="native",outcome="transcoded",)" + target + "2",
                 R"(transcode_bytes_total{engine="native",side="source",)" + target + "2000",
                 R"(transcode_bytes_total{engine="native",side="target",)" + target + "800",
                 R"(transcode_seconds_sum{engine="native",)" + target + "0.04"});
  }
}
