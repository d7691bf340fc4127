// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/AdviceResource.h"

#include "Rest/RestJson.h"

namespace OrthancPerf
{
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
