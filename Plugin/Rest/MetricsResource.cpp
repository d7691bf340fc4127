// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/MetricsResource.h"

namespace OrthancPerf
{
  void RegisterMetricsResource(RestRouter& router, const Exposition& exposition)
  {
    const auto get = [&exposition](const RestRequest&)
    {
      RestAnswer answer = AnswerText("", Exposition::TEXT_TYPE);
      answer.body = exposition.ToText();  // not copied: hundreds of peers take half a megabyte
      return answer;
    };

    router.Register("/perf/metrics", HttpMethod::Get, "All metrics, as Prometheus' text", get);
  }
}
