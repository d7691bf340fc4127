// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include "Metrics/Instances.h"
#include "Tuning/JsonValues.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    class HistoryResourceTest : public testing::Test
    {
    protected:
      using Arguments = std::map<std::string, std::string>;
      using WallTime = std::chrono::system_clock::time_point;

      HistoryResourceTest()
      {
        RegisterHistoryResource(router_, history_, tuning_);
      }

      RestAnswer Get(const Arguments& arguments) const
      {
        RestRequest request;
        request.path = "/perf/history";
        request.arguments = arguments;
        return router_.Serve(request);
      }

      Json::Value GetJson(const Arguments& arguments = {}) const
      {
        return Parse(Get(arguments).body);
      }

      WallTime now_ = WallTime(std::chrono::seconds(1'800'000'000));
      History history_{[this]
                       {
                         return now_;
                       }};
      TuningStore tuning_{Tuning(),
                          std::nullopt,
                          {},
                          {},
                          {},
                          [this]
                          {
                            return now_;
                          }};
      RestRouter router_;
    };
  }

  TEST_F(HistoryResourceTest, ListsOneValueAPointForEverySeries)
  {
    FinishedInstance instance = MakeInstance("CT1");
    instance.phases.Add(Phase::Database, std::chrono::microseconds(500));
    instance.database = ServerRecord{"10.0.0.9:5432", 12, 30, Duration::zero(), {}};
    instance.areStallsObserved = true;
    history_.OnInstanceFinished(instance);
    AdmissionFigures budget;
    budget.held = 3000;
    budget.waiting = 2;
    budget.waited = std::chrono::milliseconds(1500);
    history_.Observe(0, budget);
    now_ += std::chrono::seconds(1);
    history_.Observe(0, budget);
    now_ += std::chrono::seconds(1);

    EXPECT_EQ(Parse(R"({
      "Resolution": 1, "Begin": "20270115T080000.000000",
      "Receive": {
        "Instances": [1, 0], "Bytes": [1000, 0], "Failed": [0, 0], "Stalls": [0, 0],
        "StallSeconds": [0.0, 0.0], "StallIdleSeconds": [0.0, 0.0], "DatabaseRoundTrips": [30, 0],
        "Phases": {"Receive": [0.04, 0.0], "Parse": [0.0001, 0.0], "Storage": [0.002, 0.0],
                   "Index": [0.001, 0.0], "Database": [0.0005, 0.0]}
      },
      "Send": {"Instances": [0, 0], "Bytes": [0, 0], "Failed": [0, 0], "Phases": {}},
      "Serve": {"Instances": [0, 0], "Bytes": [0, 0], "Failed": [0, 0], "Phases": {}},
      "Associations": [0, 0], "FailedCalls": [0, 0],
      "BudgetHeld": [3000, 3000], "BudgetWaiting": [2, 2], "BudgetWaited": [1.5, 0.0],
      "TuningChanges": []
    })"),
              GetJson());
  }

  TEST_F(HistoryResourceTest, TellsWhenTheTuningWasChanged)
  {
    now_ += std::chrono::seconds(5);
    tuning_.Merge(Parse(R"({"DicomSockets": {"TcpQuickAck": false}})"), {"alice", "10.0.0.5"});
    tuning_.Reset();
    now_ += std::chrono::seconds(5);

    const Json::Value change = GetJson()["TuningChanges"][0];
    EXPECT_EQ("20270115T080005.000000", change["Time"].asString());
    EXPECT_FALSE(change["Change"]["DicomSockets"]["TcpQuickAck"].asBool());
    EXPECT_TRUE(change["Undo"]["DicomSockets"]["TcpQuickAck"].asBool());
    EXPECT_EQ(Parse(R"({"Origin": "RestApi", "User": "alice", "Address": "10.0.0.5"})"),
              change["By"]);
    EXPECT_EQ(Parse(R"({"Origin": "Internal"})"), GetJson()["TuningChanges"][1]["By"]);
    EXPECT_TRUE(GetJson({{"since", "20270115T080005.000001"}})["TuningChanges"].empty());
  }

  TEST_F(HistoryResourceTest, MinutesAreAskedForWrongArgumentsAreNamedAndUnknownOnesIgnored)
  {
    EXPECT_EQ(60, GetJson({{"resolution", "minute"}, {"token", "a"}})["Resolution"].asInt());

    for (const auto& [name, value] :
         {std::pair("resolution", "hour"), std::pair("resolution", ""),
          std::pair("since", "1800000006"), std::pair("since", "20270115T080060"),
          std::pair("since", "2027-01-15T08:00"), std::pair("since", "now"),
          std::pair("since", "1.5"), std::pair("since", "99999999999999999999"),
          std::pair("since", "")})
    {
      const RestAnswer answer = Get({{name, value}});
      EXPECT_EQ(400, answer.status);
      EXPECT_NE(std::string::npos, answer.body.find(name));
    }
  }

  TEST_F(HistoryResourceTest, AReaderFromTheFutureGetsAllAsTheClockWasSetBack)
  {
    tuning_.Merge(Parse(R"({"DicomSockets": {"TcpNoDelay": false}})"));
    EXPECT_EQ(1U, GetJson({{"since", "19700101T000001"}})["TuningChanges"].size());
    EXPECT_EQ(1U, GetJson({{"since", "22611231T235959"}})["TuningChanges"].size());
  }
}
