// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include "Metrics/Associations.h"
#include "Metrics/Instances.h"
#include "Tuning/JsonValues.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    class PeersResourceTest : public testing::Test
    {
    protected:
      PeersResourceTest()
      {
        RegisterPeersResource(router_, statistics_);
      }

      Json::Value Get() const
      {
        RestRequest request;
        request.path = "/perf/peers";
        return Parse(router_.Serve(request).body);
      }

      std::vector<OpenAssociation> open_;
      PeerStatistics statistics_{2, [this]
                                 {
                                   return open_;
                                 }};
      RestRouter router_;
    };
  }

  TEST_F(PeersResourceTest, WhatWasNotSeenOfAPeerIsAbsent)
  {
    statistics_.OnInstanceFinished(MakeInstance(""));
    statistics_.OnAssociationFinished(MakeAssociation(""));
    EXPECT_TRUE(Get().empty());

    FinishedInstance instance = MakeInstance("CT1");
    statistics_.OnInstanceFinished(instance);
    const Json::Value received = Get()[0]["Receive"];
    EXPECT_EQ(1, received["Instances"].asInt());

    for (const char* key :
         {"Associations", "CalledTitle", "ImplementationVersion", "Tcp", "Stalls", "StallTime"})
    {
      EXPECT_FALSE(received.isMember(key)) << key;
    }

    instance.areStallsObserved = true;
    statistics_.OnInstanceFinished(instance);
    EXPECT_EQ(Json::Value(0), Get()[0]["Receive"]["Stalls"]);
    EXPECT_EQ(Json::Value(0.0), Get()[0]["Receive"]["StallTime"]);
  }

  TEST_F(PeersResourceTest, ShowsAssociationsWithTheirTimesAndMeansOnceOneIsOver)
  {
    open_ = {MakeOpenAssociation("CT1")};
    const Json::Value received = Get()[0]["Receive"];
    EXPECT_EQ(0, received["Instances"].asInt());
    EXPECT_EQ(1, received["Associations"]["Open"].asInt());
    EXPECT_FALSE(received["Associations"].isMember("InstancesPerAssociation"));
    EXPECT_FALSE(received["Associations"].isMember("SetupTime"));

    FinishedAssociation rejected = MakeAssociation("CT1");
    rejected.outcome = AssociationOutcome::Rejected;
    rejected.setup = std::chrono::seconds(1);
    rejected.instances = 0;
    rejected.bytesReceived = 0;
    statistics_.OnAssociationFinished(MakeAssociation("CT1"));
    statistics_.OnAssociationFinished(rejected);

    const Json::Value associations = Get()[0]["Receive"]["Associations"];
    EXPECT_EQ(1, associations["Open"].asInt());
    EXPECT_EQ(1, associations["Released"].asInt());
    EXPECT_EQ(1, associations["Rejected"].asInt());
    EXPECT_EQ(0, associations["Lost"].asInt());
    EXPECT_EQ(Parse(R"({"Mean": 0.505, "Latest": 1.0, "Maximum": 1.0})"),
              associations["SetupTime"]);
    EXPECT_EQ(4.0, associations["InstancesPerAssociation"].asDouble());
    EXPECT_EQ(4400.0, associations["BytesPerAssociation"].asDouble());
    EXPECT_FALSE(associations.isMember("ConnectTime"));
  }

  TEST_F(PeersResourceTest, WhatOrthancSaysOfItselfIsNotThePeers)
  {
    FinishedAssociation association = MakeAssociation("PACS");
    association.direction = Direction::Send;
    association.connect = std::chrono::milliseconds(5);
    statistics_.OnAssociationFinished(association);

    const Json::Value sent = Get()[0]["Send"];
    EXPECT_EQ("ORTHANC", sent["CalledTitle"].asString());
    EXPECT_FALSE(sent.isMember("ImplementationVersion"));
    EXPECT_FALSE(sent.isMember("MaximumPduLength"));
    EXPECT_EQ(0.005, sent["Associations"]["ConnectTime"]["Latest"].asDouble());
    EXPECT_FALSE(Get()[0].isMember("Receive"));
  }

  TEST_F(PeersResourceTest, ShowsWhatTheKernelSaysAndNotWhatAnOlderOneDoesNot)
  {
    FinishedAssociation association = MakeAssociation("CT1");
    statistics_.OnAssociationFinished(association);
    EXPECT_EQ(Parse(R"({"RoundTrip": 0.003, "MinimumRoundTrip": 0.002, "SendWindow": 65535,
                        "ReceiveWindow": 131072, "SendMss": 1448, "ReceiveMss": 1400,
                        "Retransmits": 5, "Busy": 0.8, "ReceiveWindowLimited": 0.5,
                        "SendBufferLimited": 0.25})"),
              Get()[0]["Receive"]["Tcp"]);

    association.peer.name = "CT2";
    association.tcp = TcpSummary();
    statistics_.OnAssociationFinished(association);
    EXPECT_EQ(Json::Value::Members{"Retransmits"}, Get()[1]["Receive"]["Tcp"].getMemberNames());
  }
}
