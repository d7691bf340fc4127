// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/HealthResource.h"

namespace OrthancPerf
{
  namespace
  {
    // A fresh answer is worth a moment. Load balancers wait for some seconds.
    constexpr std::chrono::milliseconds PATIENCE(300);

    constexpr int UNAVAILABLE = 503;  // RFC 9110 section 15.6.4
  }


  void RegisterHealthResource(RestRouter& router, HealthWatch& watch)
  {
    const auto get = [&watch](const RestRequest&)
    {
      const std::vector<HealthWatch::Problem> problems = watch.Look(PATIENCE);

      Json::Value answer;
      answer["Healthy"] = problems.empty();
      answer["Problems"] = Json::objectValue;

      for (const HealthWatch::Problem& problem : problems)
      {
        answer["Problems"][problem.part] = problem.text;
      }

      return AnswerJson(answer, problems.empty() ? 200 : UNAVAILABLE);
    };

    router.Register("/perf/health", HttpMethod::Get,
                    "Whether this server can store: 200 or 503, for load balancers", get);
  }
}
