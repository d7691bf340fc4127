// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // "Perf" and "Enable" give "Perf.Enable"; an empty path gives the name alone
  inline std::string JoinPath(const std::string& path, const std::string& name)
  {
    return path.empty() ? name : path + "." + name;
  }


  // One key of a document of settings: all that reading, writing, checking and reporting it needs.
  // The tables of these keys (GetTuningKeys, GetPerfKeys) are the only places that list them.
  // Immutable after construction; any thread.
  template <typename Document>
  struct SettingKey
  {
    std::string section;  // the object that holds it; empty: the document itself
    std::string name;
    std::string type;     // "boolean", "integer", "string", "string or integer"
    std::string allowed;  // "an integer from 0 to 32767"

    // Takes the value over into the document; false, and nothing done, if it is not allowed
    std::function<bool(const Json::Value& value, Document& document)> read;

    // The value in the document, in its canonical form
    std::function<Json::Value(const Document& document)> write;

    // "DicomSockets.TcpNoDelay"
    std::string GetPath() const
    {
      return JoinPath(section, name);
    }
  };


  // A key whose value is at that place of the document: a member, or a function that gives it. How
  // such a value looks in JSON is the matter of its kind: one of those below, or another class with
  // the same constant and the same three functions. Parse() is given the value there is, and
  // returns nothing for one that is not allowed.
  template <typename Document, typename Kind, typename Place>
  SettingKey<Document> MakeSettingKey(const std::string& section, const std::string& name,
                                      Kind kind, Place place)
  {
    return {section,
            name,
            Kind::TYPE,
            kind.GetAllowed(),
            [kind, place](const Json::Value& value, Document& document)
            {
              auto& target = std::invoke(place, document);
              const auto parsed = kind.Parse(value, target);
              target = parsed.value_or(target);
              return parsed.has_value();
            },
            [kind, place](const Document& document)
            {
              return kind.Write(std::invoke(place, document));
            }};
  }


  struct SwitchKind
  {
    static constexpr const char* TYPE = "boolean";

    static std::string GetAllowed()
    {
      return "true or false";
    }

    static std::optional<bool> Parse(const Json::Value& value, bool)
    {
      return value.isBool() ? std::make_optional(value.asBool()) : std::nullopt;
    }

    static Json::Value Write(bool value)
    {
      return value;
    }
  };


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
  struct IntegerKind
  {
    static constexpr const char* TYPE = "integer";

    IntegerRange range;

    std::string GetAllowed() const
    {
      return range.Describe();
    }

    template <typename Integer>
    std::optional<Integer> Parse(const Json::Value& value, const Integer&) const
    {
      return range.Contains(value) ? std::make_optional(Integer(value.asInt64())) : std::nullopt;
    }

    template <typename Integer>
    static Json::Value Write(Integer value)
    {
      return static_cast<Json::Int64>(value);
    }

    static Json::Value Write(std::chrono::seconds value)
    {
      return static_cast<Json::Int64>(value.count());
    }
  };
}
