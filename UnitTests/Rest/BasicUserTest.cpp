// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/BasicUser.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(BasicUser, IsWhatStandsBeforeTheColon)
  {
    EXPECT_EQ("alice", GetBasicUser("Basic YWxpY2U6c2VjcmV0"));       // alice:secret
    EXPECT_EQ("alice", GetBasicUser("Basic YWxpY2U6"));               // alice:
    EXPECT_EQ("al ice", GetBasicUser("Basic YWwgaWNlOnNlOmNyZXQ="));  // al ice:se:cret
    EXPECT_EQ("", GetBasicUser("Basic OnNlY3JldA=="));                // :secret
  }


  TEST(BasicUser, ThePasswordNeverShows)
  {
    EXPECT_EQ("", GetBasicUser("Basic c2VjcmV0"));  // secret
    EXPECT_EQ("", GetBasicUser("c2VjcmV0"));
  }


  TEST(BasicUser, OtherSchemesNameNobody)
  {
    for (const char* header :
         {"", "Basic", "Basic ", "basic YWxpY2U6", "Bearer YWxpY2U6", "Basic ="})
    {
      EXPECT_EQ("", GetBasicUser(header)) << header;
    }
  }


  TEST(BasicUser, IsPrintableAndShort)
  {
    EXPECT_EQ("a?b", GetBasicUser("Basic YQpiOng="));  // "a\nb:x"
    std::string header = "Basic ";

    for (int i = 0; i < 10000; i++)
    {
      header += "YWFh";  // aaa
    }

    EXPECT_LT(GetBasicUser(header + "Og==").size(), 200U);
  }
}
