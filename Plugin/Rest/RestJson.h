// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/TrafficBucket.h"

#include <json/json.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace OrthancPerf
{
  struct Finding;
  struct FindingRecord;

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

  // A list of what "describe" makes of each; of the functions of its name, the one for these values
  template <typename Values,
            typename Describe = Json::Value (*)(const typename Values::value_type&)>
  Json::Value ListJson(const Values& values, Describe describe)
  {
    Json::Value list = Json::arrayValue;

    for (const auto& value : values)
    {
      list.append(describe(value));
    }

    return list;
  }

  struct JsonMember
  {
    const char* key;
    mutable std::optional<Json::Value> value;  // is moved into the object
  };

  // An object, which may have members already, with these; what has no value is absent:
  //
  //   MakeObject({{"Size", 512}, {"Reason", IfAny(reason)}, {"Busy", IfKnown(tcp.busy)}})
  Json::Value MakeObject(std::initializer_list<JsonMember> members,
                         Json::Value object = Json::objectValue);

  inline std::optional<Json::Value> OnlyIf(bool isKnown, Json::Value value)
  {
    return isKnown ? std::make_optional(std::move(value)) : std::nullopt;
  }

  // Nothing if the text is empty, or the number 0
  template <typename T>
  std::optional<Json::Value> IfAny(const T& value)
  {
    return value == T() ? std::nullopt : std::make_optional<Json::Value>(value);
  }

  template <typename T>
  std::optional<Json::Value> IfKnown(const std::optional<T>& value)
  {
    if constexpr (std::is_same_v<T, Duration>)
    {
      return value ? std::make_optional(ToJson(*value)) : std::nullopt;
    }
    else
    {
      return value ? std::make_optional<Json::Value>(*value) : std::nullopt;
    }
  }

  inline Json::Value OrNull(const std::string& text)
  {
    return text.empty() ? Json::Value() : Json::Value(text);
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
      if (std::optional<Json::Value> value = IfKnown(get(phase)))
      {
        json[ToKey(ToLabel(phase))] = std::move(*value);
      }
    }

    return json;
  }

  Json::Value ToJson(const PhaseDurations& phases);

  Json::Value ToJson(const Finding& finding);
  Json::Value ToJson(const FindingRecord& record);
}
