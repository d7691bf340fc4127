// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include "Metrics/Associations.h"
#include "Metrics/Instances.h"
#include "Tuning/Json.h"

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
        const std::string body = router_.Serve(request).body;
        return ParseJson(body.data(), body.size());
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

  TEST_F(PeersResourceTest, ShowsAssociationsWithTheirTimesAndMeans)
  {
    FinishedAssociation rejected = MakeAssociation("CT1");
    rejected.outcome = AssociationOutcome::Rejected;
    rejected.setup = std::chrono::seconds(1);
    rejected.instances = 0;
    rejected.bytesReceived = 0;
    statistics_.OnAssociationFinished(MakeAssociation("CT1"));
    statistics_.OnAssociationFinished(rejected);
    open_ = {MakeOpenAssociation("CT1")};

    const Json::Value associations = Get()[0]["Receive"]["Associations"];
    EXPECT_EQ(1, associations["Open"].asInt());
    EXPECT_EQ(1, associations["Released"].asInt());
    EXPECT_EQ(1, associations["Rejected"].asInt());
    EXPECT_EQ(0, associations["Lost"].asInt());
    EXPECT_EQ(0.505, associations["SetupTime"]["Mean"].asDouble());
    EXPECT_EQ(1.0, associations["SetupTime"]["Latest"].asDouble());
    EXPECT_EQ(1.0, associations["SetupTime"]["Maximum"].asDouble());
    EXPECT_EQ(4.0, associations["InstancesPerAssociation"].asDouble());
    EXPECT_EQ(4400.0, associations["BytesPerAssociation"].asDouble());
    EXPECT_FALSE(associations.isMember("ConnectTime"));
  }

  TEST_F(PeersResourceTest, MeansAreAbsentBeforeAnAssociationIsOver)
  {
    open_ = {MakeOpenAssociation("CT1")};
    const Json::Value received = Get()[0]["Receive"];
    EXPECT_EQ(0, received["Instances"].asInt());
    EXPECT_EQ(1, received["Associations"]["Open"].asInt());
    EXPECT_FALSE(received["Associations"].isMember("InstancesPerAssociation"));
    EXPECT_FALSE(received["Associations"].isMember("SetupTime"));
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

  TEST_F(PeersResourceTest, ShowsWhatTheKernelSays)
  {
    statistics_.OnAssociationFinished(MakeAssociation("CT1"));
    const Json::Value tcp = Get()[0]["Receive"]["Tcp"];
    EXPECT_EQ(0.003, tcp["RoundTrip"].asDouble());
    EXPECT_EQ(0.002, tcp["MinimumRoundTrip"].asDouble());
    EXPECT_EQ(65535, tcp["SendWindow"].asInt());
    EXPECT_EQ(131072, tcp["ReceiveWindow"].asInt());
    EXPECT_EQ(1448, tcp["SendMss"].asInt());
    EXPECT_EQ(1400, tcp["ReceiveMss"].asInt());
    EXPECT_EQ(5, tcp["Retransmits"].asInt());
    EXPECT_EQ(0.8, tcp["Busy"].asDouble());
    EXPECT_EQ(0.5, tcp["ReceiveWindowLimited"].asDouble());
    EXPECT_EQ(0.25, tcp["SendBufferLimited"].asDouble());
  }

  TEST_F(PeersResourceTest, WhatAnOlderKernelDoesNotTellIsAbsent)
  {
    FinishedAssociation association = MakeAssociation("CT1");
    association.tcp = TcpSummary();
    statistics_.OnAssociationFinished(association);
    EXPECT_EQ(Json::Value::Members{"Retransmits"}, Get()[0]["Receive"]["Tcp"].getMemberNames());
  }
}
