// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/RestRouter.h"

#include <gtest/gtest.h>

#include <vector>

namespace OrthancPerf
{
  namespace
  {
    using Headers = std::map<std::string, std::string>;

    // Empty: it is passed
    std::string Refuse(const Headers& headers)
    {
      RestRequest request;
      request.headers = headers;

      try
      {
        RefuseForeignPage(request);
        return "";
      }
      catch (const RestError& error)
      {
        EXPECT_EQ(403, error.ToAnswer().status);
        return error.what();
      }
    }

    std::string GetUser(const std::string& authorization, const std::string& address = "127.0.0.1")
    {
      RestRequest request;
      request.address = address;
      request.headers["authorization"] = authorization;
      return request.GetUser();
    }

    class RestRouterTest : public testing::Test
    {
    protected:
      RestRouterTest()
      {
        const auto answer = [this](const RestRequest&)
        {
          served_++;
          return AnswerJson(Json::objectValue);
        };

        router_.Register("/perf/list", HttpMethod::Get, "A list", answer);
        router_.Register("/perf/plain", HttpMethod::Get, "No arguments", answer);
        router_.Register("/perf/plain", HttpMethod::Delete, "A change", answer);
      }

      RestAnswer Serve(const std::string& path, const std::map<std::string, std::string>& arguments,
                       HttpMethod method = HttpMethod::Get, const Headers& headers = {})
      {
        RestRequest request;
        request.method = method;
        request.path = path;
        request.arguments = arguments;
        request.headers = headers;
        return router_.Serve(request);
      }

      RestRouter router_;
      int served_ = 0;
    };
  }

  TEST_F(RestRouterTest, ServesWhatItKnowsAndNoForeignPageOrDeleteInDisguise)
  {
    const Headers foreign = {{"sec-fetch-site", "cross-site"}};
    EXPECT_EQ(200, Serve("/perf/list", {{"limit", "1"}, {"peer", "CT"}}).status);
    EXPECT_EQ(200, Serve("/perf/plain", {}, HttpMethod::Get, foreign).status);
    EXPECT_EQ(2, served_);
    EXPECT_EQ(404, Serve("/perf/nothing", {{"limit", "1"}}).status);
    EXPECT_EQ(403, Serve("/perf/plain", {}, HttpMethod::Delete, foreign).status);
    EXPECT_EQ(400, Serve("/perf/plain", {{"_method", "DELETE"}}, HttpMethod::Delete).status);
    EXPECT_EQ(2, served_);
  }

  TEST_F(RestRouterTest, NoAnswerIsTakenForAnotherTypeOrKeptUnlessItsRouteSaysSo)
  {
    for (const char* path : {"/perf/plain", "/perf/nothing"})
    {
      const RestAnswer answer = Serve(path, {});
      EXPECT_EQ("no-store", answer.headers.at("Cache-Control"));
      EXPECT_EQ("nosniff", answer.headers.at("X-Content-Type-Options"));
    }

    const auto answer = [](const RestRequest&)
    {
      RestAnswer kept = AnswerJson(Json::objectValue);
      kept.headers["Cache-Control"] = "no-cache";
      return kept;
    };
    router_.Register("/perf/kept", HttpMethod::Get, "Kept", answer);
    EXPECT_EQ("no-cache", Serve("/perf/kept", {}).headers.at("Cache-Control"));
  }

  TEST(RequestSafety, ProgramsAndPagesOfTheHostThatWasAskedArePassed)
  {
    for (const Headers& headers : std::vector<Headers>{
             {},
             {{"host", "pacs:8042"}},
             {{"host", "pacs:8042"}, {"origin", "http://pacs:8042"}},
             {{"host", "PACS"}, {"origin", "http://pacs"}},
             {{"host", "pacs:443"}, {"origin", "https://pacs"}},
             {{"host", "pacs:80"}, {"origin", "http://pacs"}},
             {{"host", "[::1]:8042"}, {"origin", "http://[::1]:8042"}},
             {{"host", "[::1]"}, {"origin", "http://[::1]"}},
             {{"host", "pacs"}, {"origin", "http://pacs:8080"}},  // of a proxy
             {{"host", "orthanc"}, {"x-forwarded-host", "pacs"}, {"origin", "https://pacs"}}})
    {
      EXPECT_EQ("", Refuse(headers)) << testing::PrintToString(headers);
    }
  }

  TEST(RequestSafety, WhatABrowserSaysOfThePageComesFirst)
  {
    const Headers behindProxy = {{"host", "orthanc:8042"}, {"origin", "https://pacs.example"}};

    for (const std::string own : {"same-origin", "none"})
    {
      Headers headers = behindProxy;
      headers["sec-fetch-site"] = own;
      EXPECT_EQ("", Refuse(headers));
    }

    for (const std::string foreign : {"cross-site", "same-site", "", "whatever"})
    {
      EXPECT_NE("", Refuse({{"sec-fetch-site", foreign}, {"host", "a"}, {"origin", "http://a"}}));
    }
  }

  TEST(RequestSafety, AnyOtherPageIsRefused)
  {
    for (const std::string origin :
         {"http://elsewhere", "http://pacs:3000", "http://pacs", "null", "", "file://",
          "http://pacs.elsewhere:8042", "http://[::1]:8042", "http://pacs:8042/path"})
    {
      EXPECT_NE("", Refuse({{"host", "pacs:8042"}, {"origin", origin}})) << origin;
    }

    EXPECT_NE("", Refuse({{"origin", "http://elsewhere"}}));
    EXPECT_NE("", Refuse({{"host", ""}, {"origin", "null"}}));
  }

  TEST(RequestSafety, ThePageIsNamedWhereTheBrowserNamesItInShort)
  {
    const std::string named =
        Refuse({{"sec-fetch-site", "cross-site"}, {"origin", "http://elsewhere"}});
    EXPECT_EQ(0U, named.find("A page of another server, \"http://elsewhere\", may not ")) << named;
    const std::string unnamed = Refuse({{"sec-fetch-site", "cross-site"}});
    EXPECT_EQ(0U, unnamed.find("A page of another server may not ")) << unnamed;
    const std::string tooLong =
        Refuse({{"host", "pacs"}, {"origin", "http://" + std::string(100000, 'x')}});
    EXPECT_NE("", tooLong);
    EXPECT_LT(tooLong.size(), 1000);
  }

  TEST(RequestSafety, AnotherMethodThanTheRequestsOwnIsRefused)
  {
    RestRequest request;
    EXPECT_NO_THROW(RefuseOtherMethod(request));

    for (const std::string name : {"_method", "_Method", "_METHOD"})
    {
      request.arguments = {{name, ""}};
      EXPECT_THROW(RefuseOtherMethod(request), SettingError);
    }

    request.arguments.clear();
    request.headers = {{"x-http-method-override", ""}};
    EXPECT_THROW(RefuseOtherMethod(request), SettingError);
  }

  TEST(RestRequest, NamesItsUserUnlessItIsFromInsideOrthancOrTheHeaderIsAnother)
  {
    EXPECT_EQ("alice", GetUser("Basic YWxpY2U6c2VjcmV0"));   // alice:secret
    EXPECT_EQ("al ice", GetUser("basic YWwgaWNlOmE6Yg=="));  // al ice:a:b
    EXPECT_EQ("bob", GetUser("Basic Ym9iOg"));               // bob:, without padding
    EXPECT_EQ("", GetUser("Basic OnNlY3JldA=="));            // :secret
    EXPECT_EQ("", GetUser("Basic YWxpY2U6c2VjcmV0", ""));
    EXPECT_EQ("", RestRequest().GetUser());

    for (const char* header :
         {"", "Basic", "Basic ", "Basic =", "Basic Y", "Basic YWxpY2U", "Basic ?",
          "Basic YWxpY2U6!", "Bearer YWxpY2U6c2VjcmV0", "YWxpY2U6c2VjcmV0"})
    {
      EXPECT_EQ("", GetUser(header)) << header;
    }
  }

  TEST(QueryArguments, EscapesAreDecodedAndWhatIsNoneStays)
  {
    EXPECT_EQ("CT ROOM", DecodeQuery("CT%20ROOM"));
    EXPECT_EQ("CT ROOM", DecodeQuery("CT+ROOM"));
    EXPECT_EQ("+/&=%", DecodeQuery("%2B%2f%26%3D%25"));
    EXPECT_EQ("\xC3\x9C", DecodeQuery("%C3%9c"));
    EXPECT_EQ(std::string("a\0b", 3), DecodeQuery("a%00b"));
    EXPECT_EQ("% ", DecodeQuery("%%20"));

    for (const char* text : {"", "%", "%2", "100%", "%zz", "%2x", "%-1", "% 1", "%%"})
    {
      EXPECT_EQ(text, DecodeQuery(text));
    }
  }
}
