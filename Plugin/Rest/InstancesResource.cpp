// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/InstancesResource.h"

#include "Rest/QueryArguments.h"
#include "Rest/RestJson.h"

#include <limits>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t DEFAULT_LIMIT = 100;


    std::size_t GetLimit(const RestRequest& request)
    {
      return GetInteger(request, "limit", std::numeric_limits<std::uint32_t>::max())
          .value_or(DEFAULT_LIMIT);
    }


    std::optional<Origin> GetOrigin(const RestRequest& request)
    {
      const std::optional<std::string> text = GetArgument(request, "origin");

      if (!text)
      {
        return std::nullopt;
      }

      const std::optional<Origin> origin = ParseOrigin(*text);

      if (!origin)
      {
        throw MakeArgumentError("origin", *text,
                                "Unknown, DicomProtocol, RestApi, Plugin, Lua or WebDav");
      }

      return origin;
    }


    std::optional<Direction> GetDirection(const RestRequest& request)
    {
      const std::optional<std::string> text = GetArgument(request, "direction");

      if (!text)
      {
        return std::nullopt;
      }

      for (const Direction direction : GetAllDirections())
      {
        if (*text == ToKey(ToLabel(direction)))
        {
          return direction;
        }
      }

      throw MakeArgumentError("direction", *text, "Receive or Send");
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
    const auto get = [&instances](const RestRequest& request)
    {
      const std::vector<FinishedInstance> latest =
          instances.Latest(GetLimit(request), GetArgument(request, "peer"), GetOrigin(request),
                           GetDirection(request));
      return AnswerJson(
          ListJson(latest, [](const FinishedInstance& instance) { return Describe(instance); }));
    };

    router.Register("/perf/instances", HttpMethod::Get,
                    "The latest finished instances and their phases, newest first", get,
                    {"limit", "peer", "origin", "direction"});
  }
}
