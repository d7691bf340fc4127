// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <cstdint>
#include <functional>
#include <string>

namespace OrthancPerf
{
  // One key of a document of settings: all that reading, writing, checking, documenting and
  // reporting it needs. The tables of these keys (GetTuningKeys, GetPerfKeys) are the only places
  // that list them. Immutable after construction; any thread.
  template <typename Document>
  struct SettingKey
  {
    std::string section;  // the object that holds it; empty: the document itself
    std::string name;
    std::string type;     // "boolean", "integer", "string", "string or integer"
    std::string allowed;  // "an integer from 0 to 32767"
    std::string description;

    // Takes the value over into the document; false, and nothing done, if it is not allowed
    std::function<bool(const Json::Value& value, Document& document)> read;

    // The value in the document, in its canonical form
    std::function<Json::Value(const Document& document)> write;

    // "DicomSockets.TcpNoDelay"
    std::string GetPath() const
    {
      return section.empty() ? name : section + "." + name;
    }
  };


  // Whether the value is an integer within the limits. Integral doubles such as 1000.0 are, as
  // JSON has one kind of number only (RFC 8259 section 6); booleans and texts are not.
  inline bool IsIntegerWithin(const Json::Value& value, std::int64_t minimum, std::int64_t maximum)
  {
    return value.isInt64() && value.asInt64() >= minimum && value.asInt64() <= maximum;
  }


  // "field" gives the place in the document: bool& (Document&)
  template <typename Document, typename Field>
  SettingKey<Document> MakeBooleanKey(const std::string& section, const std::string& name,
                                      const std::string& description, Field field)
  {
    const auto read = [field](const Json::Value& value, Document& document)
    {
      if (!value.isBool())
      {
        return false;
      }

      field(document) = value.asBool();
      return true;
    };

    const auto write = [field](const Document& document)
    {
      Document copy = document;
      return Json::Value(static_cast<bool>(field(copy)));
    };

    return {section, name, "boolean", "true or false", description, read, write};
  }


  struct IntegerRange
  {
    std::int64_t minimum;
    std::int64_t maximum;
  };


  // Describes the range: "an integer from 1 to 100"
  inline std::string ToText(const IntegerRange& range)
  {
    return "an integer from " + std::to_string(range.minimum) + " to " +
           std::to_string(range.maximum);
  }


  // "get" is std::int64_t (const Document&), "set" is void (Document&, std::int64_t)
  template <typename Document, typename Get, typename Set>
  SettingKey<Document> MakeIntegerKey(const std::string& section, const std::string& name,
                                      const std::string& description, const IntegerRange& range,
                                      Get get, Set set)
  {
    const auto read = [set, range](const Json::Value& value, Document& document)
    {
      if (!IsIntegerWithin(value, range.minimum, range.maximum))
      {
        return false;
      }

      set(document, value.asInt64());
      return true;
    };

    const auto write = [get](const Document& document)
    {
      return Json::Value(static_cast<Json::Int64>(get(document)));
    };

    return {section, name, "integer", ToText(range), description, read, write};
  }
}
