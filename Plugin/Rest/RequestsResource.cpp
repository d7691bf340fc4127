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
      Json::Value json;
      json["Class"] = ToLabel(request.route);
      AddIfKnown(json, "Status", request.status);
      json["Address"] = request.address;
      AddText(json, "Product", request.product);
      json["Size"] = ToJson(request.bytesSent);
      json["FinishedAt"] = ToJson(request.finishedAt);
      json["Duration"] = ToJson(request.GetDuration());
      json["ClientWait"] = ToJson(request.clientWait);
      json["Phases"] = Json::objectValue;

      if (IsDimse(request.route))
      {
        json["Responses"] = request.responses;
        AddIfKnown(json, "FirstResponse", request.firstResponse);
      }

      for (std::size_t i = 0; i < REQUEST_PHASES.size(); i++)
      {
        AddIfKnown(json["Phases"], ToKey(ToLabel(REQUEST_PHASES[i])).c_str(), request.phases[i]);
      }

      return json;
    }


    Json::Value Describe(const ReadSummary& sums)
    {
      Json::Value json;
      json["Requests"] = ToJson(sums.CountRequests());
      json["Failed"] = ToJson(sums.CountFailed());
      json["Bytes"] = ToJson(sums.bytes);
      json["ClientWait"] = ToJson(sums.clientWait);

      for (std::size_t i = 0; i < REQUEST_PHASES.size(); i++)
      {
        json["PhaseTimes"][ToKey(ToLabel(REQUEST_PHASES[i]))] = sums.phases[i].sum;
      }

      return json;
    }


    // Those of which there was any
    Json::Value Describe(const std::array<ReadSummary, ROUTE_CLASS_COUNT>& classes)
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
