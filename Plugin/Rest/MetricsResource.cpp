// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/MetricsResource.h"

namespace OrthancPerf
{
  void RegisterMetricsResource(RestRouter& router, const Exposition& exposition)
  {
    const auto get = [&exposition](const RestRequest& request)
    {
      return request.AcceptsJson() ? AnswerJson(exposition.ToJson())
                                   : AnswerText(exposition.ToText(), Exposition::TEXT_TYPE);
    };

    router.Register("/perf/metrics", HttpMethod::Get, "All metrics, as Prometheus' text or as JSON",
                    get);
  }
}
