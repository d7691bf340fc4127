// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include "Tuning/Json.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    const std::vector<DashboardFile> FILES = {
        {"index.html", "text/html; charset=utf-8", "<html>", "tag-1"},
        {"app.js", "text/javascript; charset=utf-8", "script()", "tag-2"}};

    const std::string BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8";

    class DashboardResourceTest : public testing::Test
    {
    protected:
      DashboardResourceTest()
      {
        RegisterDashboardResource(router_, FILES);
      }

      RestAnswer Get(const std::string& path, const std::map<std::string, std::string>& headers,
                     const std::map<std::string, std::string>& arguments = {}) const
      {
        RestRequest request;
        request.path = path;
        request.headers = headers;
        request.arguments = arguments;
        return router_.Serve(request);
      }

      RestRouter router_;
    };
  }

  TEST_F(DashboardResourceTest, ABrowserGetsThePageWhichMayLoadNothingFromElsewhereOrInline)
  {
    const RestAnswer answer = Get("/perf", {{"accept", BROWSER}});
    EXPECT_EQ(200, answer.status);
    EXPECT_EQ("<html>", answer.body);
    EXPECT_EQ("text/html; charset=utf-8", answer.contentType);
    EXPECT_EQ("no-cache", answer.headers.at("Cache-Control"));
    EXPECT_EQ("nosniff", answer.headers.at("X-Content-Type-Options"));
    const std::string policy = answer.headers.at("Content-Security-Policy");
    EXPECT_EQ(0u, policy.find("default-src 'none'; script-src 'self'; style-src 'self';"));
    EXPECT_EQ(std::string::npos, policy.find("unsafe"));
  }

  TEST_F(DashboardResourceTest, AllOthersGetTheRoutes)
  {
    for (const std::string accept : {"*/*", "application/json"})
    {
      const RestAnswer answer = Get("/perf", {{"accept", accept}});
      const Json::Value routes = ParseJson(answer.body.data(), answer.body.size());
      EXPECT_EQ("application/json", answer.contentType);
      EXPECT_TRUE(routes.isMember("/perf"));
      EXPECT_TRUE(routes.isMember("/perf/app/app.js"));
    }
  }

  TEST_F(DashboardResourceTest, OnlyAFileOfAVersionIsKeptForeverAndWhatTheBrowserHasNotSentAgain)
  {
    const auto getCaching = [this](const std::map<std::string, std::string>& arguments)
    {
      return Get("/perf/app/app.js", {}, arguments).headers.at("Cache-Control");
    };
    EXPECT_NE(std::string::npos, getCaching({{"v", "tag-2"}}).find("immutable"));
    EXPECT_EQ("no-cache", getCaching({{"v", "tag-1"}}));
    EXPECT_EQ("no-cache", getCaching({}));

    const RestAnswer answer = Get("/perf/app/app.js", {{"if-none-match", "W/\"a\", \"tag-2\""}});
    EXPECT_EQ(304, answer.status);
    EXPECT_TRUE(answer.body.empty());
    EXPECT_EQ(200, Get("/perf/app/app.js", {{"if-none-match", "\"tag-1\""}}).status);
  }

  TEST_F(DashboardResourceTest, APluginWithoutDashboardSaysSo)
  {
    router_ = RestRouter();
    RegisterDashboardResource(router_, {});
    const RestAnswer routes = Get("/perf", {{"accept", BROWSER}});
    EXPECT_NE(std::string::npos, routes.body.find("no dashboard, as npm was missing"));
    EXPECT_EQ(404, Get("/perf/app/app.js", {}).status);
  }
}
