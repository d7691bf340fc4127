// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/MetricsResource.h"

#include "Metrics/GaugeFamily.h"
#include "Tuning/ParseJson.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(MetricsResource, NumbersAreAsExactInJsonAsInText)
  {
    const GaugeFamily start("orthanc_perf_start_time_seconds", "Unix time.",
                            [] { return ToOnlyValue(std::optional<double>(1795271706.678901)); });
    const Exposition exposition({&start});
    RestRouter router;
    RegisterMetricsResource(router, exposition);
    RestRequest request;
    request.path = "/perf/metrics";
    EXPECT_NE(std::string::npos, router.Serve(request).body.find(" 1795271706.678901\n"));

    request.headers["accept"] = "application/json";
    const std::string body = router.Serve(request).body;
    const Json::Value json = ParseJson(body.data(), body.size());
    EXPECT_EQ(1795271706.678901, json[0]["Metrics"][0]["Value"].asDouble());
  }
}
