// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include "Rest/RestJson.h"

namespace OrthancPerf
{
  namespace
  {
    RequestFilter ReadFilter(const RestRequest& request)
    {
      RequestFilter filter;
      filter.client = GetArgument(request, "client");
      filter.route = GetChoice<RouteClass>(request, "class", GetAllRouteClasses(),
                                           [](RouteClass route) { return ToLabel(route); });
      return filter;
    }


    Json::Value Describe(const FinishedRequest& request)
    {
      Json::Value phases = Json::objectValue;

      for (std::size_t i = 0; i < REQUEST_PHASES.size(); i++)
      {
        if (const std::optional<Duration>& time = request.phases[i])
        {
          phases[ToKey(ToLabel(REQUEST_PHASES[i]))] = ToJson(*time);
        }
      }

      const bool isDimse = IsDimse(request.route);
      return MakeObject(
          {{"Class", ToLabel(request.route)},
           {"Status", IfKnown(request.status)},
           {"Address", request.address},
           {"Product", IfAny(request.product)},
           {"Size", ToJson(request.bytesSent)},
           {"FinishedAt", ToJson(request.finishedAt)},
           {"Duration", ToJson(request.GetDuration())},
           {"ClientWait", ToJson(request.clientWait)},
           {"Phases", phases},
           {"Responses", OnlyIf(isDimse, request.responses)},
           {"FirstResponse", isDimse ? IfKnown(request.firstResponse) : std::nullopt}});
    }


    Json::Value Describe(const ReadSummary& sums)
    {
      Json::Value json = MakeObject({{"Requests", ToJson(sums.CountRequests())},
                                     {"Failed", ToJson(sums.CountFailed())},
                                     {"Bytes", ToJson(sums.bytes)},
                                     {"ClientWait", ToJson(sums.clientWait)}});

      for (std::size_t i = 0; i < REQUEST_PHASES.size(); i++)
      {
        json["PhaseTimes"][ToKey(ToLabel(REQUEST_PHASES[i]))] = sums.phases[i].sum;
      }

      return json;
    }


    // Those of which there was any
    Json::Value Describe(const std::vector<ReadSummary>& classes)
    {
      Json::Value json = Json::objectValue;

      for (const RouteClass route : GetAllRouteClasses())
      {
        const ReadSummary& sums = classes[static_cast<std::size_t>(route)];

        if (sums.CountRequests() > 0)
        {
          json[ToLabel(route)] = Describe(sums);
        }
      }

      return json;
    }
  }


  void RegisterRequestsResource(RestRouter& router, const RecentRequests& requests)
  {
    const auto get = [&requests](const RestRequest& request)
    {
      const auto describe = [](const FinishedRequest& finished)
      {
        return Describe(finished);
      };
      const RequestFilter filter = ReadFilter(request);
      const std::size_t limit = GetLimit(request);
      Json::Value answer;
      answer["Classes"] = Describe(requests.Summarize());
      answer["Latest"] = ListJson(requests.Latest(limit, filter), describe);
      answer["Slowest"] = ListJson(requests.Slowest(limit, filter), describe);
      return AnswerJson(answer);
    };

    router.Register("/perf/requests", HttpMethod::Get,
                    "Requests that read: by class in 5 minutes, the latest, the slowest", get);
  }
}
