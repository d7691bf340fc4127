// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

namespace OrthancPerf
{
  // "Perf" and "Enable" give "Perf.Enable"; an empty path gives the name alone
  inline std::string JoinPath(const std::string& path, const std::string& name)
  {
    return path.empty() ? name : path + "." + name;
  }

  // Which values of JSON stand for which values of a type
  template <typename Value>
  struct SettingKind
  {
    std::string type;     // "boolean", "integer", "string", "string or integer"
    std::string allowed;  // "an integer from 0 to 32767"

    // The value that this stands for; nothing if it is not allowed
    std::function<std::optional<Value>(const Json::Value& json)> read;

    // The value in its canonical form
    std::function<Json::Value(const Value& value)> write;
  };

  // One key of a document of settings: all that reading, writing, checking and reporting it needs.
  // The tables of these keys (GetTuningKeys, GetPerfKeys) are the only places that list them.
  // Immutable after construction; any thread.
  template <typename Document>
  struct SettingKey
  {
    std::string section;  // the object that holds it; empty: the document itself
    std::string name;
    std::string type;     // of its kind
    std::string allowed;  // likewise

    // Takes the value over into the document; false, and nothing done, if it is not allowed
    std::function<bool(const Json::Value& json, Document& document)> read;

    // The value in the document, in its canonical form
    std::function<Json::Value(const Document& document)> write;

    // "DicomSockets.TcpNoDelay"
    std::string GetPath() const
    {
      return JoinPath(section, name);
    }
  };

  // A key whose value is at that place of the document: a member, or a function that gives it
  template <typename Document, typename Value, typename Place>
  SettingKey<Document> MakeSettingKey(const std::string& section, const std::string& name,
                                      const SettingKind<Value>& kind, Place place)
  {
    return {section,
            name,
            kind.type,
            kind.allowed,
            [read = kind.read, place](const Json::Value& json, Document& document)
            {
              const std::optional<Value> value = read(json);
              std::invoke(place, document) = value.value_or(std::invoke(place, document));
              return value.has_value();
            },
            [write = kind.write, place](const Document& document)
            {
              return write(std::invoke(place, document));
            }};
  }

  inline SettingKind<bool> MakeSwitchKind()
  {
    return {"boolean", "true or false",
            [](const Json::Value& json)
            { return json.isBool() ? std::make_optional(json.asBool()) : std::nullopt; },
            [](bool value)
            {
              return Json::Value(value);
            }};
  }

  struct IntegerRange
  {
    std::int64_t minimum;
    std::int64_t maximum;

    // Integral doubles such as 1000.0 are integers, as JSON has one kind of number only (RFC 8259
    // section 6); booleans and texts are not.
    bool Contains(const Json::Value& value) const
    {
      return value.isInt64() && value.asInt64() >= minimum && value.asInt64() <= maximum;
    }

    // "an integer from 1 to 100"
    std::string Describe() const
    {
      return "an integer from " + std::to_string(minimum) + " to " + std::to_string(maximum);
    }
  };

  // Any type of integer, or seconds
  template <typename Integer>
  SettingKind<Integer> MakeIntegerKind(const IntegerRange& range)
  {
    return {"integer", range.Describe(),
            [range](const Json::Value& json) {
              return range.Contains(json) ? std::make_optional(Integer(json.asInt64()))
                                          : std::nullopt;
            },
            [](const Integer& value) -> Json::Value
            {
              if constexpr (std::is_same_v<Integer, std::chrono::seconds>)
              {
                return static_cast<Json::Int64>(value.count());
              }
              else
              {
                return static_cast<Json::Int64>(value);
              }
            }};
  }
}
