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

    bool IsRefused(const Headers& headers)
    {
      return !Refuse(headers).empty();
    }
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
      EXPECT_FALSE(IsRefused(headers)) << testing::PrintToString(headers);
    }
  }

  TEST(RequestSafety, WhatABrowserSaysOfThePageComesFirst)
  {
    const Headers behindProxy = {{"host", "orthanc:8042"}, {"origin", "https://pacs.example"}};

    for (const std::string own : {"same-origin", "none"})
    {
      Headers headers = behindProxy;
      headers["sec-fetch-site"] = own;
      EXPECT_FALSE(IsRefused(headers));
    }

    for (const std::string foreign : {"cross-site", "same-site", "", "whatever"})
    {
      EXPECT_TRUE(IsRefused({{"sec-fetch-site", foreign}, {"host", "a"}, {"origin", "http://a"}}));
    }
  }

  TEST(RequestSafety, AnyOtherPageIsRefused)
  {
    for (const std::string origin :
         {"http://elsewhere", "http://pacs:3000", "http://pacs", "null", "", "file://",
          "http://pacs.elsewhere:8042", "http://[::1]:8042", "http://pacs:8042/path"})
    {
      EXPECT_TRUE(IsRefused({{"host", "pacs:8042"}, {"origin", origin}})) << origin;
    }

    EXPECT_TRUE(IsRefused({{"origin", "http://elsewhere"}}));
    EXPECT_TRUE(IsRefused({{"host", ""}, {"origin", "null"}}));
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
}
