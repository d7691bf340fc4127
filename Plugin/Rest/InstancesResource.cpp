// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include "Rest/RestJson.h"

namespace OrthancPerf
{
  namespace
  {
    InstanceFilter ReadFilter(const RestRequest& request)
    {
      const auto name = [](auto value)
      {
        return ToKey(ToLabel(value));
      };
      InstanceFilter filter;
      filter.peer = GetArgument(request, "peer");
      filter.origin = GetChoice<Origin>(request, "origin", GetAllOrigins(),
                                        [](Origin origin) { return ToLabel(origin); });
      filter.direction = GetChoice<Direction>(request, "direction", GetAllDirections(), name);
      filter.outcome = GetChoice<Outcome>(request, "outcome", GetAllOutcomes(), name);
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
      Json::Value json = MakeObject({{"ID", OrNull(instance.instanceId)},
                                     {"Direction", ToKey(ToLabel(instance.direction))},
                                     {"Origin", ToLabel(instance.origin)},
                                     {"Outcome", ToKey(ToLabel(instance.outcome))},
                                     {"Peer", instance.peer.name},
                                     {"Address", instance.peer.address},
                                     {"Size", ToJson(static_cast<std::uint64_t>(instance.size))},
                                     {"FinishedAt", ToJson(instance.finishedAt)},
                                     {"Duration", ToJson(instance.phases.GetTotal())},
                                     {"Phases", ToJson(instance.phases)},
                                     {"Reason", IfAny(instance.reason)}});

      if (instance.areStallsObserved)
      {
        json["Stalls"] = instance.stalls;
        json["StallTime"] = ToJson(instance.stallTime);
        json["StallTimeInIdle"] = ToJson(instance.stallTimeInIdle);
      }

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
  }


  void RegisterInstancesResource(RestRouter& router, const RecentInstances& instances)
  {
    const auto list = [&instances](const RestRequest& request)
    {
      return AnswerJson(ListJson(instances.Latest(GetLimit(request), ReadFilter(request)),
                                 [](const FinishedInstance& instance)
                                 { return Describe(instance); }));
    };

    const auto get = [&instances](const RestRequest& request)
    {
      InstanceFilter filter = ReadFilter(request);
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
                    "One of them, by its Orthanc identifier", get);
  }
}
