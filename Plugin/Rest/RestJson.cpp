// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/RestJson.h"

#include <cctype>

namespace OrthancPerf
{
  Json::Value ToJson(const PhaseDurations& phases)
  {
    return ListPhases([&phases](Phase phase) { return phases.Get(phase); });
  }


  Json::Value ToJson(const TrafficBucket& traffic, const TrafficRates& rates)
  {
    Json::Value json;
    json["Instances"] = ToCount(traffic.instances);
    json["Bytes"] = ToCount(traffic.bytes);
    json["InstancesPerSecond"] = rates.instances;
    json["BytesPerSecond"] = rates.bytes;

    if (traffic.areStallsObserved)
    {
      json["Stalls"] = ToCount(traffic.stalls);
      json["StallTime"] = traffic.stallSeconds;
    }

    if (traffic.isRemoteObserved)
    {
      json["RemoteRoundTrips"] = ToCount(traffic.remoteRoundTrips);
    }

    if (traffic.isDatabaseObserved)
    {
      json["DatabaseRoundTrips"] = ToCount(traffic.databaseRoundTrips);
    }

    for (const Outcome outcome : GetAllOutcomes())
    {
      json["Outcomes"][ToKey(ToLabel(outcome))] = ToCount(traffic.GetOutcome(outcome));
    }

    return json;
  }


  std::string ToKey(const std::string& label)
  {
    std::string key;
    bool isFirst = true;

    for (const char c : label)
    {
      if (c != ' ')
      {
        key += isFirst ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      }

      isFirst = c == ' ';
    }

    return key;
  }
}
