// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/StatusResource.h"

#include "Rest/RestJson.h"

namespace OrthancPerf
{
  namespace
  {
    Json::Value Describe(const Versions& versions)
    {
      Json::Value json;
      json["Plugin"] = versions.plugin;
      json["Orthanc"] = versions.orthanc;
      json["Sdk"] = versions.sdk;
      return json;
    }


    Json::Value Describe(const LatencySummary& latency)
    {
      Json::Value json;
      json["Count"] = ToJson(latency.count);
      json["Total"] = ToJson(latency.total);
      json["Mean"] = ToJson(latency.mean);
      json["P50"] = ToJson(latency.median);
      json["P90"] = ToJson(latency.percentile90);
      json["P99"] = ToJson(latency.percentile99);
      json["Maximum"] = ToJson(latency.maximum);
      return json;
    }


    Json::Value Describe(const TrafficSummary& traffic)
    {
      Json::Value json;
      json["Instances"] = ToJson(traffic.instances);
      json["Bytes"] = ToJson(traffic.bytes);
      json["InstancesPerSecond"] = traffic.instancesPerSecond;
      json["BytesPerSecond"] = traffic.bytesPerSecond;
      json["Outcomes"] = ToJson(traffic.outcomes);
      json["Stalls"] = ToJson(traffic.stalls);
      json["StallTime"] = ToJson(traffic.stallTime);
      json["Phases"] = Json::objectValue;

      if (traffic.duration)
      {
        json["Duration"] = Describe(*traffic.duration);
      }

      for (const Phase phase : GetAllPhases())
      {
        if (const auto& latency = traffic.phases.at(static_cast<std::size_t>(phase)))
        {
          json["Phases"][ToKey(phase)] = Describe(*latency);
        }
      }

      return json;
    }


    Json::Value Describe(const WindowSummary& window)
    {
      Json::Value json;
      json["Length"] = ToJson(window.length);
      json["Covered"] = ToJson(window.covered);

      for (const Direction direction : GetAllDirections())
      {
        json[ToKey(ToLabel(direction))] =
            Describe(window.directions.at(static_cast<std::size_t>(direction)));
      }

      return json;
    }


    Json::Value DescribeIngest(const IngestTracker& tracker)
    {
      Json::Value json;
      json["LateOutcomes"] = ToJson(tracker.CountLateOutcomes());

      for (const Origin origin : GetAllOrigins())
      {
        json["InFlight"][ToLabel(origin)] =
            ToJson(static_cast<std::uint64_t>(tracker.CountInFlight(origin)));
      }

      return json;
    }
  }


  void RegisterStatusResource(RestRouter& router, const Versions& versions,
                              const PluginState& state, const IngestTracker& tracker,
                              const RecentTraffic& traffic)
  {
    const auto get = [versions, &state, &tracker, &traffic](const RestRequest&)
    {
      Json::Value answer;
      answer["Versions"] = Describe(versions);
      answer["Hooks"] = state.DescribeHooks();
      answer["CallbackFailures"] = state.DescribeFailures();
      answer["Warnings"] = state.DescribeWarnings();
      answer["Tuning"]["NotYetInEffect"] = state.DescribeNotYetInEffect();
      answer["Ingest"] = DescribeIngest(tracker);

      for (const WindowSummary& window : traffic.Summarize())
      {
        answer["Windows"].append(Describe(window));
      }

      return AnswerJson(answer);
    };

    router.Register("/perf/status", HttpMethod::Get,
                    "Versions, hooks, rates and phase percentiles over 10 s, 1 min and 5 min", get);
  }
}
