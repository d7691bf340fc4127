// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include "Rest/RestJson.h"

#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // A fresh answer is worth a moment. Load balancers wait for some seconds.
    constexpr std::chrono::milliseconds PATIENCE(300);

    constexpr int UNAVAILABLE = 503;  // RFC 9110 section 15.6.4
  }


  void RegisterMetricsResource(RestRouter& router, std::function<MetricFigures()> gather)
  {
    const auto get = [gather = std::move(gather)](const RestRequest&)
    {
      return RestAnswer{200, "text/plain; version=0.0.4; charset=utf-8", WriteMetrics(gather())};
    };

    router.Register("/perf/metrics", HttpMethod::Get, "All metrics, as Prometheus' text", get);
  }


  void RegisterHealthResource(RestRouter& router, HealthWatch& watch)
  {
    const auto get = [&watch](const RestRequest&)
    {
      const HealthWatch::Health health = watch.Look(PATIENCE);

      Json::Value answer;
      answer["Healthy"] = health.problems.empty();
      answer["Problems"] = Json::objectValue;
      answer["Waiting"] = ListJson(health.waiting, [](const std::string& part) { return part; });

      for (const auto& [part, problem] : health.problems)
      {
        answer["Problems"][part] = problem;
      }

      return AnswerJson(answer, health.problems.empty() ? 200 : UNAVAILABLE);
    };

    router.Register("/perf/health", HttpMethod::Get,
                    "Whether this server can store: 200 or 503, for load balancers", get);
  }


  void RegisterAdviceResource(RestRouter& router, Advisor& advisor)
  {
    const auto get = [&advisor](const RestRequest&)
    {
      return AnswerJson(
          ListJson(advisor.Advise(), [](const Finding& finding) { return ToJson(finding); }));
    };

    router.Register("/perf/advice", HttpMethod::Get,
                    "What holds ingest back, with evidence and what to do, most costly first", get);

    const auto getHistory = [&advisor](const RestRequest&)
    {
      return AnswerJson(ListJson(advisor.GetHistory(),
                                 [](const FindingRecord& record) { return ToJson(record); }));
    };

    router.Register("/perf/advice/history", HttpMethod::Get,
                    "The findings of the last day with their begin and end, the latest first",
                    getHistory);
  }
}
