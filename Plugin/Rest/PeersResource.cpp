// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/PeersResource.h"

#include "Rest/RestJson.h"

namespace OrthancPerf
{
  namespace
  {
    // Each phase's part of the time of all instances: {"Receive": 0.8, "Commit": 0.2}
    Json::Value GetShares(const PhaseDurations& phases)
    {
      Json::Value shares = Json::objectValue;
      const double total = ToSeconds(phases.GetTotal());

      for (const Phase phase : GetAllPhases())
      {
        const std::optional<Duration> duration = phases.Get(phase);

        if (duration && IsPartOfDuration(phase) && total > 0)
        {
          shares[ToKey(phase)] = ToSeconds(*duration) / total;
        }
      }

      return shares;
    }


    Json::Value Describe(const PeerTraffic& traffic)
    {
      Json::Value json;
      json["Instances"] = ToJson(traffic.instances);
      json["Bytes"] = ToJson(traffic.bytes);
      json["Outcomes"] = ToJson(traffic.outcomes);
      json["InstancesPerSecond"] = traffic.instancesPerSecond;
      json["BytesPerSecond"] = traffic.bytesPerSecond;
      json["PhaseTimes"] = ToJson(traffic.phases);
      json["PhaseShares"] = GetShares(traffic.phases);
      json["Stalls"] = ToJson(traffic.stalls);
      json["StallTime"] = ToJson(traffic.stallTime);
      return json;
    }


    Json::Value Describe(const PeerSummary& peer)
    {
      Json::Value json;
      json["Name"] = peer.name;
      json["Address"] = peer.address;
      json["FirstSeen"] = ToJson(peer.firstSeen);
      json["LastSeen"] = ToJson(peer.lastSeen);

      for (const Direction direction : GetAllDirections())
      {
        const PeerTraffic& traffic = peer.directions.at(static_cast<std::size_t>(direction));

        if (traffic.instances > 0)
        {
          json[ToKey(ToLabel(direction))] = Describe(traffic);
        }
      }

      return json;
    }
  }


  void RegisterPeersResource(RestRouter& router, const PeerStatistics& peers)
  {
    const auto get = [&peers](const RestRequest&)
    {
      Json::Value answer = Json::arrayValue;

      for (const PeerSummary& peer : peers.Summarize())
      {
        answer.append(Describe(peer));
      }

      return AnswerJson(answer);
    };

    router.Register("/perf/peers", HttpMethod::Get,
                    "Each peer: rates, outcomes, where the time of its instances goes", get);
  }
}
