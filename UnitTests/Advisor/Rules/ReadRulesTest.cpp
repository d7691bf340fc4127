// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    class ReadRulesTest : public RuleTest
    {
    protected:
      ReadRulesTest()
      {
        evidence_.served.resize(ROUTE_CLASS_COUNT);
      }

      // Times in milliseconds
      void Serve(RouteClass route, const std::vector<std::pair<Phase, double>>& phases,
                 double clientWait = 0)
      {
        FinishedRequest request;
        request.clientWait = ToDuration(Milliseconds(clientWait));

        for (const auto& [phase, time] : phases)
        {
          const auto* const place = std::find(REQUEST_PHASES.begin(), REQUEST_PHASES.end(), phase);
          request.phases[static_cast<std::size_t>(place - REQUEST_PHASES.begin())] =
              ToDuration(Milliseconds(time));
        }

        for (int i = 0; i < MANY; i++)
        {
          evidence_.served[static_cast<std::size_t>(route)].Add(request);
        }
      }
    };
  }

  TEST_F(ReadRulesTest, WhatAClientTakesSlowlyIsTheClients)
  {
    Serve(RouteClass::Archive, {{Phase::Idle, 1000}, {Phase::Work, 20}, {Phase::Send, 80}}, 70);
    Serve(RouteClass::File, {{Phase::Work, 100}});
    const Finding finding = Judge("slow-reads");
    EXPECT_EQ("archive", finding.evidence["Class"].asString());
    EXPECT_EQ("Client", finding.evidence["WaitsFor"].asString());
    EXPECT_EQ("Peer", finding.remedy.kind);
    EXPECT_EQ(MANY, finding.evidence["Requests"].asInt());
    EXPECT_NEAR(7, finding.evidence["WaitTime"].asDouble(), 1e-6);
    EXPECT_NEAR(0.7, finding.evidence["WaitShare"].asDouble(), 1e-6);
    EXPECT_NEAR(0.35, finding.cost.shareOfIngestTime, 1e-6);
    EXPECT_FALSE(finding.cost.gain);
  }

  TEST_F(ReadRulesTest, TheLongestWaitIsNamed)
  {
    Serve(RouteClass::File, {{Phase::Storage, 80}, {Phase::Work, 20}});
    EXPECT_EQ("Storage", Judge("slow-reads").evidence["WaitsFor"].asString());
    Serve(RouteClass::Query, {{Phase::Database, 90}, {Phase::Work, 20}});
    const Finding finding = Judge("slow-reads");
    EXPECT_EQ("Database", finding.evidence["WaitsFor"].asString());
    EXPECT_EQ("query", finding.evidence["Class"].asString());
  }

  TEST_F(ReadRulesTest, IsSilentOnOrthancsOwnWorkAndShortWaits)
  {
    ExpectNothing("", "work",
                  [this] {
                    Serve(RouteClass::Preview,
                          {{Phase::Work, 1000}, {Phase::Send, 900}, {Phase::Storage, 500}});
                  });
    ExpectNothing("", "a short wait",
                  [this] {
                    Serve(RouteClass::File, {{Phase::Storage, 40}, {Phase::Work, 1}});
                  });
  }
}
