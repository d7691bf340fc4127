// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/AdviceResource.h"

namespace OrthancPerf
{
  void RegisterAdviceResource(RestRouter& router, Advisor& advisor)
  {
    const auto get = [&advisor](const RestRequest&)
    {
      Json::Value answer = Json::arrayValue;

      for (const Finding& finding : advisor.Advise())
      {
        answer.append(ToJson(finding));
      }

      return AnswerJson(answer);
    };

    router.Register("/perf/advice", HttpMethod::Get,
                    "What holds ingest back, with evidence and what to do, most costly first", get);

    const auto getHistory = [&advisor](const RestRequest&)
    {
      Json::Value answer = Json::arrayValue;

      for (const FindingRecord& record : advisor.GetHistory())
      {
        answer.append(ToJson(record));
      }

      return AnswerJson(answer);
    };

    router.Register("/perf/advice/history", HttpMethod::Get,
                    "The findings of the last day with their begin and end, the latest first",
                    getHistory);
  }
}
