// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include "Rest/RestJson.h"
#include "Tuning/Json.h"
#include "Tuning/TuningReader.h"

#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // A fresh answer is worth a moment. Load balancers wait for some seconds.
    constexpr std::chrono::milliseconds PATIENCE(300);

    constexpr int UNAVAILABLE = 503;  // RFC 9110 section 15.6.4

    constexpr const char* TUNING = "/perf/tuning";

    RestAnswer Change(const TuningResourceSources& sources, const RestRequest& request,
                      const std::function<TuningOutcome(const TuningAuthor&)>& change)
    {
      if (!sources.isAllowed)
      {
        throw RestError(403, "Changing the tuning is switched off by \"AllowTuning\" in section "
                             "\"Perf\" of Orthanc's configuration");
      }

      const TuningOutcome outcome = change({DescribeText(request.GetUser()), request.address});

      for (const std::string& warning : outcome.warnings)
      {
        sources.warn(warning);
      }

      return AnswerJson(ToJson(*outcome.tuning));
    }
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
                    "Whether this server can store, for load balancers", get);
  }

  void RegisterAdviceResource(RestRouter& router, Advisor& advisor)
  {
    const auto get = [&advisor](const RestRequest&)
    {
      return AnswerJson(ListJson(advisor.Advise(), ToJson));
    };

    router.Register("/perf/advice", HttpMethod::Get,
                    "What holds ingest back, with evidence and what to do, most costly first", get);

    const auto getHistory = [&advisor](const RestRequest&)
    {
      return AnswerJson(ListJson(advisor.GetHistory(), ToJson));
    };

    router.Register(
        "/perf/advice/history", HttpMethod::Get,
        "The findings of the last day with their begin and end, the latest to begin first",
        getHistory);
  }

  void RegisterTuningResource(RestRouter& router, const TuningResourceSources& sources)
  {
    const auto get = [sources](const RestRequest& request)
    {
      return AnswerJson(GetFlag(request, "sources")
                            ? DescribeSources(sources.configuration, sources.store.GetOverrides())
                            : ToJson(*sources.store.Get()));
    };

    const auto put = [sources](const RestRequest& request)
    {
      return Change(sources, request,
                    [&](const TuningAuthor& author) {
                      return sources.store.Merge(
                          ParseJson(request.body.data(), request.body.size()), author);
                    });
    };

    const auto reset = [sources](const RestRequest& request)
    {
      return Change(sources, request,
                    [&](const TuningAuthor& author) { return sources.store.Reset(author); });
    };

    router.Register(TUNING, HttpMethod::Get, "The tuning document in force", get);
    router.Register(TUNING, HttpMethod::Put, "Merge a document into the tuning (RFC 7396)", put);
    router.Register(TUNING, HttpMethod::Delete, "Return to the tuning of the configuration", reset);
  }
}
