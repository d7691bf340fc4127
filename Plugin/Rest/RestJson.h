// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/LatestTraffic.h"

#include <json/json.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace OrthancPerf
{
  // How values look in the JSON of all routes: times in seconds, sizes in bytes, moments in
  // Orthanc's own form of UTC.

  inline Json::Value ToJson(std::uint64_t number)
  {
    return static_cast<Json::UInt64>(number);
  }

  inline Json::Value ToJson(Duration duration)
  {
    return ToSeconds(duration);
  }

  inline Json::Value ToJson(std::chrono::system_clock::time_point moment)
  {
    return FormatMoment(moment);
  }

  // A whole number that is kept as a double
  inline Json::Value ToCount(double number)
  {
    return static_cast<Json::UInt64>(number);
  }

  // By both directions and SERVE
  constexpr std::array<const char*, TRAFFIC_COUNT> TRAFFIC_KEYS = {"Receive", "Send", "Serve"};

  // What instances in one direction add up to
  Json::Value ToJson(const TrafficBucket& traffic, const TrafficRates& rates);

  // A list of what "describe" makes of each
  template <typename Values, typename Describe>
  Json::Value ListJson(const Values& values, Describe describe)
  {
    Json::Value list = Json::arrayValue;

    for (const auto& value : values)
    {
      list.append(describe(value));
    }

    return list;
  }

  // What is not known is absent
  inline void AddText(Json::Value& json, const char* key, const std::string& text)
  {
    if (!text.empty())
    {
      json[key] = text;
    }
  }

  template <typename T>
  void AddIfKnown(Json::Value& json, const char* key, const std::optional<T>& value)
  {
    if constexpr (std::is_same_v<T, Duration>)
    {
      AddIfKnown(json, key, value ? std::optional<double>(ToSeconds(*value)) : std::nullopt);
    }
    else if (value)
    {
      json[key] = *value;
    }
  }

  // A label as a key: "stored" gives "Stored"
  std::string ToKey(const std::string& label);

  // What "get" has of each phase, by its key: {"Receive": 0.003, "Commit": 0.004}
  template <typename Get>
  Json::Value ListPhases(Get get)
  {
    Json::Value json = Json::objectValue;

    for (const Phase phase : GetAllPhases())
    {
      AddIfKnown(json, ToKey(ToLabel(phase)).c_str(), get(phase));
    }

    return json;
  }

  // Those that were observed
  Json::Value ToJson(const PhaseDurations& phases);
}
