// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Access/RegisteredUsers.h"

#include "Tuning/JsonValues.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* ALICE = "Basic YWxpY2U6c2VjcmV0";  // alice:secret

    const Json::Value CONFIGURATION = Parse(R"({"AuthenticationEnabled": true, "RegisteredUsers":
        {"alice": "secret", "al ice": "se:cret", "empty": "", "number": 7, "none": {}}})");
  }


  TEST(RegisteredUsers, AreKnownByNameAndPassword)
  {
    const RegisteredUsers users(CONFIGURATION);
    EXPECT_TRUE(users.AreAsked());
    EXPECT_TRUE(users.Has("alice"));
    EXPECT_FALSE(users.Has("bob"));
    EXPECT_FALSE(users.Has("none"));

    EXPECT_EQ("alice", users.Identify(ALICE));
    EXPECT_EQ("al ice", users.Identify("Basic YWwgaWNlOnNlOmNyZXQ="));  // al ice:se:cret
    EXPECT_EQ("empty", users.Identify("Basic ZW1wdHk6"));               // empty:
    EXPECT_EQ("number", users.Identify("Basic bnVtYmVyOjc="));          // number:7
  }


  TEST(RegisteredUsers, ANameWithoutItsPasswordIsNobodys)
  {
    const RegisteredUsers users(CONFIGURATION);

    for (const char* header : {"Basic YWxpY2U6",              // alice:
                               "Basic YWxpY2U=",              // alice
                               "Basic YWxpY2U6c2VjcmU=",      // alice:secre
                               "Basic YWxpY2U6c2VjcmV0dA==",  // alice:secrett
                               "Basic Ym9iOnNlY3JldA==",      // bob:secret
                               "Basic bm9uZTo=",              // none:
                               "Basic OnNlY3JldA==",          // :secret
                               "Basic ZW1wdHk6eA=="})         // empty:x
    {
      EXPECT_EQ("", users.Identify(header)) << header;
    }
  }


  TEST(RegisteredUsers, OtherSchemesNameNobody)
  {
    const RegisteredUsers users(CONFIGURATION);

    for (const char* header : {"", "Basic", "Basic ", "basic YWxpY2U6c2VjcmV0",
                               "Bearer YWxpY2U6c2VjcmV0", "Basic =", "YWxpY2U6c2VjcmV0"})
    {
      EXPECT_EQ("", users.Identify(header)) << header;
    }
  }


  TEST(RegisteredUsers, AreNobodyWhereOrthancAsksForNoPassword)
  {
    Json::Value configuration = CONFIGURATION;
    configuration["AuthenticationEnabled"] = false;
    EXPECT_FALSE(RegisteredUsers(configuration).AreAsked());
    EXPECT_EQ("", RegisteredUsers(configuration).Identify(ALICE));

    configuration.removeMember("AuthenticationEnabled");
    EXPECT_EQ("", RegisteredUsers(configuration).Identify(ALICE));

    configuration["RemoteAccessAllowed"] = true;  // Orthanc asks by itself then
    EXPECT_EQ("alice", RegisteredUsers(configuration).Identify(ALICE));
  }


  TEST(RegisteredUsers, AConfigurationWithoutThemHasNone)
  {
    EXPECT_EQ("", RegisteredUsers(Parse("{}")).Identify(ALICE));
    EXPECT_EQ("", RegisteredUsers(Parse(R"({"AuthenticationEnabled": true})")).Identify(ALICE));
    EXPECT_EQ("", RegisteredUsers(Parse(R"({"RemoteAccessAllowed": true, "RegisteredUsers": []})"))
                      .Identify(ALICE));
  }
}
