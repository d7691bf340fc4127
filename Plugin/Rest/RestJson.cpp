// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/RestJson.h"

#include "Advisor/Rule.h"

#include <cctype>

namespace OrthancPerf
{
  namespace
  {
    Json::Value ToMoment(std::int64_t seconds)
    {
      return ToJson(std::chrono::system_clock::from_time_t(seconds));
    }
  }

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
         {"StallTimeInIdle", OnlyIf(traffic.areStallsObserved, traffic.stallIdleSeconds)},
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

  Json::Value ToJson(const Finding& finding)
  {
    const Remedy& remedy = finding.remedy;
    Json::Value json = MakeObject({{"ID", finding.id},
                                   {"Peer", IfAny(finding.peer)},
                                   {"Title", finding.title},
                                   {"Explanation", finding.explanation},
                                   {"Evidence", finding.evidence},
                                   {"Since", ToMoment(finding.since)}});
    json["Cost"] =
        MakeObject({{"ShareOfIngestTime", finding.cost.shareOfIngestTime},
                    {"EstimatedGain", IfKnown(finding.cost.gain).value_or(Json::Value())}});
    json["Remedy"] = MakeObject({{"Kind", remedy.kind},
                                 {"Text", remedy.text},
                                 {remedy.kind.c_str(), IfAny(remedy.document)}});
    return json;
  }

  Json::Value ToJson(const FindingRecord& record)
  {
    return MakeObject({{"ID", record.id},
                       {"Peer", IfAny(record.peer)},
                       {"Title", record.title},
                       {"Begin", ToMoment(record.begin)},
                       {"End", record.end ? ToMoment(*record.end) : Json::Value()}});
  }
}
