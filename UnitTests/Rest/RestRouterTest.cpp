// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/RestRouter.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
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
                       HttpMethod method = HttpMethod::Get,
                       const std::map<std::string, std::string>& headers = {})
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
    const std::map<std::string, std::string> foreign = {{"sec-fetch-site", "cross-site"}};
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
}
