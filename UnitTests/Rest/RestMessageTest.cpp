// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/RestRouter.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    std::string GetUser(const std::string& authorization, const std::string& address = "127.0.0.1")
    {
      RestRequest request;
      request.address = address;
      request.headers["authorization"] = authorization;
      return request.GetUser();
    }
  }

  TEST(RestRequest, NamesItsUser)
  {
    EXPECT_EQ("alice", GetUser("Basic YWxpY2U6c2VjcmV0"));   // alice:secret
    EXPECT_EQ("al ice", GetUser("basic YWwgaWNlOmE6Yg=="));  // al ice:a:b
    EXPECT_EQ("bob", GetUser("Basic Ym9iOg"));               // bob:, without padding
    EXPECT_EQ("", GetUser("Basic OnNlY3JldA=="));            // :secret
    EXPECT_EQ("", RestRequest().GetUser());
  }

  TEST(RestRequest, NamesNobodyWhereTheHeaderIsAnother)
  {
    for (const char* header :
         {"", "Basic", "Basic ", "Basic =", "Basic Y", "Basic YWxpY2U", "Basic ?",
          "Basic YWxpY2U6!", "Bearer YWxpY2U6c2VjcmV0", "YWxpY2U6c2VjcmV0"})
    {
      EXPECT_EQ("", GetUser(header)) << header;
    }
  }

  TEST(RestRequest, FromInsideOrthancNamesNobody)
  {
    EXPECT_EQ("", GetUser("Basic YWxpY2U6c2VjcmV0", ""));
  }

  TEST(QueryArguments, EscapesAreDecoded)
  {
    EXPECT_EQ("CT ROOM", DecodeQuery("CT%20ROOM"));
    EXPECT_EQ("CT ROOM", DecodeQuery("CT+ROOM"));
    EXPECT_EQ("+/&=%", DecodeQuery("%2B%2f%26%3D%25"));
    EXPECT_EQ("\xC3\x9C", DecodeQuery("%C3%9c"));
    EXPECT_EQ(std::string("a\0b", 3), DecodeQuery("a%00b"));
  }

  TEST(QueryArguments, WhatIsNoEscapeStays)
  {
    for (const char* text : {"", "%", "%2", "100%", "%zz", "%2x", "%-1", "% 1", "%%"})
    {
      EXPECT_EQ(text, DecodeQuery(text));
    }

    EXPECT_EQ("% ", DecodeQuery("%%20"));
  }
}
