// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rule.h"

#include <gtest/gtest.h>

#include <set>

namespace OrthancPerf
{
  TEST(FindingTexts, FiguresStandInTheText)
  {
    const Finding finding = Describe(
        "window", Judgement({{"Window", 65536.0}, {"RoundTrip", 0.05}, {"WindowLimit", 1.31072e6}},
                            {}, "Tuning"));
    EXPECT_EQ("A fixed buffer of 64 KiB limits transfers over a round trip of 50 ms",
              finding.title);
    EXPECT_NE(std::string::npos, finding.explanation.find("64 KiB in 50 ms is at most 1.2 MiB/s"));
    EXPECT_EQ("Tuning", finding.remedy.kind);
  }

  TEST(FindingTexts, AVariantHasItsOwnRemedyAndKeepsTheRest)
  {
    Judgement judgement({{"MeanStall", 0.04}});
    judgement.words["System"] = "Linux";
    judgement.words["Timer"] = 0.04;
    const Finding usual = Describe("delayed-ack", judgement);
    EXPECT_EQ(Json::Value(true), usual.remedy.document["DicomSockets"]["TcpNoDelay"]);

    judgement.variant = "tuned";
    const Finding tuned = Describe("delayed-ack", judgement);
    EXPECT_EQ(usual.explanation, tuned.explanation);
    EXPECT_EQ("System", tuned.remedy.kind);
    EXPECT_TRUE(tuned.remedy.document.isNull());
  }

  TEST(FindingTexts, WhatIsMissingIsSeen)
  {
    EXPECT_EQ("Transfers stall again and again, for {MeanStall time} each time",
              Describe("delayed-ack", Judgement({})).title);
    EXPECT_TRUE(Describe("no such finding", Judgement({})).title.empty());
  }

  TEST(FindingTexts, EachRemedyIsOfAKnownKind)
  {
    const std::set<std::string> kinds = {"Tuning", "Configuration", "System", "Peer"};

    for (const std::string& id : GetFindingTexts().getMemberNames())
    {
      const Json::Value& texts = GetFindingTexts()[id];
      EXPECT_TRUE(texts.isMember("Remedy") || !texts["Variants"].empty()) << id;

      if (texts.isMember("Remedy"))
      {
        EXPECT_EQ(1U, kinds.count(texts["Remedy"]["Kind"].asString())) << id;
      }

      for (const Json::Value& variant : texts["Variants"])
      {
        const Json::Value& remedy =
            variant.isMember("Remedy") ? variant["Remedy"] : texts["Remedy"];
        EXPECT_EQ(1U, kinds.count(remedy["Kind"].asString())) << id;
      }
    }
  }
}
