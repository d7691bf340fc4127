// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/SettingError.h"

#include <gtest/gtest.h>

using namespace OrthancPerf;


TEST(SettingError, SaysKeyFoundAndAllowedInOneLine)
{
  const SettingError error = SettingError::ForValue("Perf.Enabled", "maybe", "true or false");
  EXPECT_STREQ("Perf.Enabled is \"maybe\"; allowed: true or false", error.what());
}


TEST(SettingError, GivesItsPartsAsJson)
{
  const Json::Value json = SettingError::ForValue("A.B", 7, "1 to 6").ToJson();
  EXPECT_EQ(3u, json.size());
  EXPECT_EQ("A.B", json["Key"].asString());
  EXPECT_EQ("7", json["Found"].asString());
  EXPECT_EQ("1 to 6", json["Allowed"].asString());
}


TEST(SettingError, NamesTheDocumentWhereThereIsNoKey)
{
  EXPECT_STREQ("The document is []; allowed: an object",
               SettingError::ForValue("", Json::Value(Json::arrayValue), "an object").what());
}


TEST(SettingError, KeepsDescriptionsShortAndPrintable)
{
  EXPECT_EQ(MAXIMUM_DESCRIPTION + 3, Describe(std::string(5000, 'x')).size());
  EXPECT_EQ("a?b?", DescribeText("a\nb\x80"));
  EXPECT_EQ("\"\\u0001\\n\"", Describe("\x01\n"));
}
