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
      Json::Value json;
      json["Engine"] = transcoding.engine.empty() ? Json::Value() : Json::Value(transcoding.engine);
      json["Target"] = transcoding.target;
      json["Outcome"] = ToKey(transcoding.outcome);

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
      Json::Value json;
      json["ID"] = instance.instanceId.empty() ? Json::Value() : Json::Value(instance.instanceId);
      json["Direction"] = ToKey(ToLabel(instance.direction));
      json["Origin"] = ToLabel(instance.origin);
      json["Outcome"] = ToKey(ToLabel(instance.outcome));
      json["Peer"] = instance.peer.name;
      json["Address"] = instance.peer.address;
      json["Size"] = ToJson(static_cast<std::uint64_t>(instance.size));
      json["FinishedAt"] = ToJson(instance.finishedAt);
      json["Duration"] = ToJson(instance.phases.GetTotal());
      json["Phases"] = ToJson(instance.phases);

      AddText(json, "Reason", instance.reason);

      if (instance.areStallsObserved)
      {
        json["Stalls"] = instance.stalls;
        json["StallTime"] = ToJson(instance.stallTime);
      }

      if (instance.remote)
      {
        json["Remote"]["RoundTrips"] = instance.remote->roundTrips;
        AddText(json["Remote"], "Server", instance.remote->server);
      }

      if (instance.database)
      {
        json["Database"]["RoundTrips"] = instance.database->roundTrips;
        AddText(json["Database"], "Server", instance.database->server);

        if (instance.database->roundTrips > 0)
        {
          json["Database"]["Latency"] = ToJson(instance.database->shortest);
        }

        if (instance.database->queued)
        {
          json["Database"]["Queued"] = ToJson(*instance.database->queued);
        }
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
