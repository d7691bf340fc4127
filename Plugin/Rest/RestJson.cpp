// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/RestJson.h"

#include <cctype>

namespace OrthancPerf
{
  Json::Value ToJson(const PhaseDurations& phases)
  {
    return ListPhases([&phases](Phase phase) { return phases.Get(phase); });
  }


  Json::Value MakeObject(std::initializer_list<JsonMember> members, Json::Value object)
  {
    for (const JsonMember& member : members)
    {
      if (member.value)
      {
        object[member.key] = std::move(*member.value);
      }
    }

    return object;
  }


  Json::Value ToJson(const TrafficBucket& traffic, const TrafficRates& rates)
  {
    Json::Value json = MakeObject(
        {{"Instances", ToCount(traffic.instances)},
         {"Bytes", ToCount(traffic.bytes)},
         {"InstancesPerSecond", rates.instances},
         {"BytesPerSecond", rates.bytes},
         {"Stalls", OnlyIf(traffic.areStallsObserved, ToCount(traffic.stalls))},
         {"StallTime", OnlyIf(traffic.areStallsObserved, traffic.stallSeconds)},
         {"RemoteRoundTrips", OnlyIf(traffic.isRemoteObserved, ToCount(traffic.remoteRoundTrips))},
         {"DatabaseRoundTrips",
          OnlyIf(traffic.isDatabaseObserved, ToCount(traffic.databaseRoundTrips))}});

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
