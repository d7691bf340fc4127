// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/PeerStatistics.h"

#include "Metrics/Associations.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  using std::chrono::milliseconds;
  using std::chrono::seconds;

  TEST(TimeSummary, HasTheMeanTheLatestAndTheMaximum)
  {
    TimeSummary summary;
    EXPECT_DOUBLE_EQ(0, summary.GetMean());
    summary.Add(milliseconds(30));
    summary.Add(milliseconds(20));
    summary.Add(milliseconds(10));
    EXPECT_EQ(3U, summary.count);
    EXPECT_DOUBLE_EQ(0.020, summary.GetMean());
    EXPECT_DOUBLE_EQ(0.010, summary.latest);
    EXPECT_DOUBLE_EQ(0.030, summary.maximum);
  }

  TEST(TimeSummary, ANegativeTimeCountsAsZero)
  {
    TimeSummary summary;
    summary.Add(milliseconds(-5));
    EXPECT_EQ(1U, summary.count);
    EXPECT_DOUBLE_EQ(0, summary.sum);
  }

  TEST(PeerAssociations, SumsUpThoseThatAreOver)
  {
    FinishedAssociation lost = MakeAssociation("CT1");
    lost.outcome = AssociationOutcome::Lost;
    lost.setup = seconds(1);
    PeerAssociations associations;
    associations.Add(MakeAssociation("CT1"));
    associations.Add(MakeAssociation("CT1"));
    associations.Add(lost);

    EXPECT_EQ(2U, associations.outcomes.at(static_cast<std::size_t>(AssociationOutcome::Released)));
    EXPECT_EQ(1U, associations.outcomes.at(static_cast<std::size_t>(AssociationOutcome::Lost)));
    EXPECT_EQ(12U, associations.instances);
    EXPECT_EQ(13200U, associations.bytes);
    EXPECT_EQ(3U, associations.setup.count);
    EXPECT_DOUBLE_EQ(1, associations.setup.maximum);
    EXPECT_EQ(0U, associations.connect.count);
    EXPECT_EQ("OFFIS_DCMTK_367", associations.parties.implementationVersion);
    EXPECT_EQ(16384U, associations.parties.maximumLength);
  }

  TEST(PeerAssociations, BytesOfOutgoingOnesAreThoseSent)
  {
    FinishedAssociation association = MakeAssociation("PACS");
    association.direction = Direction::Send;
    association.connect = milliseconds(2);
    PeerAssociations associations;
    associations.Add(association);
    EXPECT_EQ(300U, associations.bytes);
    EXPECT_DOUBLE_EQ(0.002, associations.connect.latest);
  }

  TEST(PeerAssociations, NoInstancesAreExpectedOfThoseThatWereNeverEstablished)
  {
    FinishedAssociation association = MakeAssociation("CT1");
    PeerAssociations associations;

    for (const AssociationOutcome outcome : GetAllAssociationOutcomes())
    {
      association.outcome = outcome;
      associations.Add(association);
    }

    EXPECT_EQ(4U, associations.CountEstablished());
  }

  TEST(PeerAssociations, WhatTheLatestDoesNotTellIsThatOfTheOneBefore)
  {
    FinishedAssociation unreadable = MakeAssociation("CT1");
    unreadable.parties = {};
    unreadable.tcp.reset();
    unreadable.setup.reset();
    PeerAssociations associations;
    associations.Add(MakeAssociation("CT1"));
    associations.Add(unreadable);
    EXPECT_EQ("ORTHANC", associations.parties.calledTitle);
    EXPECT_EQ(1448U, associations.tcp->sendMss);
    EXPECT_EQ(1U, associations.setup.count);
  }

  TEST(PeerAssociations, UnderTlsTheCallingTitleIsAllThatIsKnown)
  {
    FinishedAssociation encrypted = MakeAssociation("CT1");
    encrypted.parties = {};
    encrypted.parties.callingTitle = "CT1";
    PeerAssociations associations;
    associations.Add(encrypted);
    EXPECT_EQ("CT1", associations.parties.callingTitle);

    associations.Add(MakeAssociation("CT1"));
    associations.Add(encrypted);
    EXPECT_EQ("ORTHANC", associations.parties.calledTitle);
  }

  TEST(PeerAssociations, TextsOfStrangersAreBounded)
  {
    FinishedAssociation association = MakeAssociation("CT1");
    association.parties.implementationVersion = std::string(65536, 'A');
    PeerAssociations associations;
    associations.Add(association);
    EXPECT_EQ(MAXIMUM_PEER_NAME, associations.parties.implementationVersion.size());
  }

  TEST(PeerAssociations, OpenOnesAreCounted)
  {
    PeerAssociations associations;
    EXPECT_FALSE(associations.IsAny());
    associations.Add(MakeOpenAssociation("CT1"));
    associations.Add(MakeOpenAssociation("CT1"));
    EXPECT_TRUE(associations.IsAny());
    EXPECT_EQ(2U, associations.open);
    EXPECT_EQ(65535U, associations.tcp->sendWindow);
  }
}
