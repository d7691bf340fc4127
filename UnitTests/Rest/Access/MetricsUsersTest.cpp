// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Access/MetricsUsers.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* PROMETHEUS = "Basic cHJvbWV0aGV1czpzZWNyZXQ=";  // prometheus:secret
    constexpr const char* OTHER = "Basic YWxpY2U6c2VjcmV0";               // alice:secret
    constexpr const char* METRICS = "/perf/metrics";

    const MetricsUsers USERS({"prometheus", "other"});
  }


  TEST(MetricsUsers, MayGetMetricsAndNothingElse)
  {
    EXPECT_TRUE(USERS.Allow(HttpMethod::Get, METRICS, PROMETHEUS));
    EXPECT_TRUE(USERS.Allow(HttpMethod::Get, "/perf/health", PROMETHEUS));
    EXPECT_TRUE(USERS.Allow(HttpMethod::Get, "/tools/metrics-prometheus", PROMETHEUS));

    for (const char* path : {"", "/", "/perf", "/perf/metrics/", "/perf/metrics/x",
                             "//perf/metrics", "/PERF/metrics", "/system", "/tools/metrics"})
    {
      EXPECT_FALSE(USERS.Allow(HttpMethod::Get, path, PROMETHEUS)) << path;
    }

    for (const HttpMethod method : {HttpMethod::Post, HttpMethod::Put, HttpMethod::Delete})
    {
      EXPECT_FALSE(USERS.Allow(method, METRICS, PROMETHEUS));
    }
  }


  TEST(MetricsUsers, AreLimitedByTheirNameWhateverThePassword)
  {
    EXPECT_FALSE(USERS.Allow(HttpMethod::Get, "/system", "Basic cHJvbWV0aGV1czo="));
    EXPECT_FALSE(USERS.Allow(HttpMethod::Get, "/system", "Basic cHJvbWV0aGV1czp4OnkK"));
  }


  TEST(MetricsUsers, OthersAreAsTheyWere)
  {
    for (const char* header :
         {"", OTHER, "Bearer cHJvbWV0aGV1czpzZWNyZXQ=", "Basic cHJvbWV0aGV1cw=="})
    {
      EXPECT_TRUE(USERS.Allow(HttpMethod::Delete, "/patients", header)) << header;
      EXPECT_TRUE(MetricsUsers({}).Allow(HttpMethod::Delete, "/patients", header)) << header;
    }

    EXPECT_FALSE(MetricsUsers({}).AreThere());
    EXPECT_TRUE(USERS.AreThere());
  }
}
