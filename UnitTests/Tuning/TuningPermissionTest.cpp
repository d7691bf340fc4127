// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningPermission.h"

#include "Tuning/JsonValues.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    // Any value, a switch as well
    Json::Value ParseValue(const std::string& json)
    {
      return Parse("[" + json + "]")[0];
    }


    TuningPermission Read(const std::string& json)
    {
      TuningPermission permission;
      EXPECT_TRUE(TuningPermissionKind::Read(ParseValue(json), permission)) << json;
      EXPECT_EQ(ParseValue(json == "[]" ? "false" : json), TuningPermissionKind::Write(permission));
      return permission;
    }
  }


  TEST(TuningPermission, TrueIsForAllAndFalseForNobody)
  {
    for (const char* user : {"", "alice"})
    {
      EXPECT_TRUE(TuningPermission().Allows(user));
      EXPECT_TRUE(Read("true").Allows(user));
      EXPECT_FALSE(Read("false").Allows(user));
      EXPECT_FALSE(Read("[]").Allows(user));
    }
  }


  TEST(TuningPermission, AListIsForThoseWhomItNamesToTheLetter)
  {
    const TuningPermission permission = Read(R"(["alice", "al ice"])");
    EXPECT_TRUE(permission.Allows("alice"));
    EXPECT_TRUE(permission.Allows("al ice"));

    for (const char* user : {"", "Alice", "alic", "alice ", "bob"})
    {
      EXPECT_FALSE(permission.Allows(user)) << user;
    }
  }


  TEST(TuningPermission, WhatNamesNobodyIsRefusedAndChangesNothing)
  {
    TuningPermission permission = Read(R"(["alice"])");

    for (const char* json :
         {"1", "\"alice\"", "{}", "[1]", "[\"\"]", "[\"bob\", null]", "[\"a:b\"]"})
    {
      EXPECT_FALSE(TuningPermissionKind::Read(ParseValue(json), permission)) << json;
      EXPECT_TRUE(permission.Allows("alice"));
      EXPECT_FALSE(permission.Allows("bob"));
    }
  }
}
