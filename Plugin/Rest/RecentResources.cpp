// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include "Rest/RestJson.h"

namespace OrthancPerf
{
  namespace
  {
    InstanceFilter ReadInstanceFilter(const RestRequest& request)
    {
      const auto name = [](auto value)
      {
        return ToKey(ToLabel(value));
      };
      InstanceFilter filter;
      filter.peer = GetArgument(request, "peer");
      filter.origin = GetChoice<Origin>(request, "origin");
      filter.direction = GetChoice<Direction>(request, "direction", name);
      filter.outcome = GetChoice<Outcome>(request, "outcome", name);
      return filter;
    }

    Json::Value Describe(const TranscodingRecord& transcoding)
    {
      Json::Value json = MakeObject({{"Engine", OrNull(transcoding.engine)},
                                     {"Target", transcoding.target},
                                     {"Outcome", ToKey(transcoding.outcome)}});

      if (transcoding.size != 0)
      {
        json["Size"] = ToJson(static_cast<std::uint64_t>(transcoding.size));
        json["Verified"] = transcoding.isVerified;
      }
      else
      {
        json["Reason"] = transcoding.reason;
      }

      return json;
    }

    Json::Value Describe(const FinishedInstance& instance)
    {
      const bool isObserved = instance.areStallsObserved;
      Json::Value json =
          MakeObject({{"ID", OrNull(instance.instanceId)},
                      {"Direction", ToKey(ToLabel(instance.direction))},
                      {"Origin", ToLabel(instance.origin)},
                      {"Outcome", ToKey(ToLabel(instance.outcome))},
                      {"Peer", instance.peer.name},
                      {"Address", instance.peer.address},
                      {"Size", ToJson(static_cast<std::uint64_t>(instance.size))},
                      {"FinishedAt", ToJson(instance.finishedAt)},
                      {"Duration", ToJson(instance.phases.GetTotal())},
                      {"Phases", ToJson(instance.phases)},
                      {"Reason", IfAny(instance.reason)},
                      {"Stalls", OnlyIf(isObserved, instance.stalls)},
                      {"StallTime", OnlyIf(isObserved, ToJson(instance.stallTime))},
                      {"StallTimeInIdle", OnlyIf(isObserved, ToJson(instance.stallTimeInIdle))}});

      if (instance.remote)
      {
        json["Remote"] = MakeObject({{"RoundTrips", instance.remote->roundTrips},
                                     {"Server", IfAny(instance.remote->server)}});
      }

      if (const std::optional<ServerRecord>& database = instance.database)
      {
        json["Database"] =
            MakeObject({{"RoundTrips", database->roundTrips},
                        {"Server", IfAny(database->server)},
                        {"Latency", OnlyIf(database->roundTrips > 0, ToJson(database->shortest))},
                        {"Queued", IfKnown(database->queued)}});
      }

      if (instance.transcoding)
      {
        json["Transcoding"] = Describe(*instance.transcoding);
      }

      return json;
    }

    RequestFilter ReadRequestFilter(const RestRequest& request)
    {
      return {GetChoice<RouteClass>(request, "class"), GetArgument(request, "client")};
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
                                     {"ClientWait", ToJson(sums.clientWait)},
                                     {"PhaseTimes", Json::Value(Json::objectValue)}});

      for (std::size_t i = 0; i < REQUEST_PHASES.size(); i++)
      {
        if (sums.phases[i].count > 0)
        {
          json["PhaseTimes"][ToKey(ToLabel(REQUEST_PHASES[i]))] = sums.phases[i].sum;
        }
      }

      return json;
    }

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

  void RegisterInstancesResource(RestRouter& router, const RecentInstances& instances)
  {
    const auto list = [&instances](const RestRequest& request)
    {
      return AnswerJson(
          ListJson(instances.Latest(GetLimit(request), ReadInstanceFilter(request)), Describe));
    };

    const auto get = [&instances](const RestRequest& request)
    {
      InstanceFilter filter = ReadInstanceFilter(request);
      filter.id = request.path.substr(request.path.rfind('/') + 1);
      const std::vector<FinishedInstance> latest = instances.Latest(1, filter);

      if (latest.empty())
      {
        throw RestError(404, "This instance is not among the latest");
      }

      return AnswerJson(Describe(latest.front()));
    };

    router.Register("/perf/instances", HttpMethod::Get,
                    "The latest finished instances and their phases, newest first", list);
    router.Register("/perf/instances/{id}", HttpMethod::Get,
                    "One of these instances, by its Orthanc identifier", get);
  }

  void RegisterRequestsResource(RestRouter& router, const RecentRequests& requests)
  {
    const auto get = [&requests](const RestRequest& request)
    {
      const RequestFilter filter = ReadRequestFilter(request);
      const std::size_t limit = GetLimit(request);
      Json::Value answer;
      answer["Classes"] = Describe(requests.Summarize());
      answer["Latest"] = ListJson(requests.Latest(limit, filter), Describe);
      answer["Slowest"] = ListJson(requests.Slowest(limit, filter), Describe);
      return AnswerJson(answer);
    };

    router.Register("/perf/requests", HttpMethod::Get,
                    "Requests that read: by class in 5 minutes, the latest, the slowest", get);
  }
}
