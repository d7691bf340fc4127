// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/Json.h"

#include <boost/algorithm/string/join.hpp>
#include <json/reader.h>
#include <json/writer.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    SettingError MakeError(const std::string& reason)
    {
      return SettingError("The body is not acceptable JSON: " + reason, "", reason,
                          "one JSON object of at most " + std::to_string(MAXIMUM_JSON_SIZE) +
                              " bytes, nested at most " + std::to_string(MAXIMUM_JSON_DEPTH) +
                              " deep, without comments and without duplicate keys");
    }

    // JsonCpp reports "* Line 1, Column 2\n  Syntax error: ...\n"
    std::string ToOneLine(std::string text)
    {
      std::replace(text.begin(), text.end(), '\n', ' ');
      const std::size_t begin = text.find_first_not_of(" *");
      const std::size_t end = text.find_last_not_of(' ');
      return begin == std::string::npos ? "unknown error"
                                        : DescribeText(text.substr(begin, end - begin + 1));
    }

    // JsonCpp takes a comment where an object begins, whatever its features are (1.9.5). Outside of
    // strings, JSON has no slash.
    bool HasComment(std::string_view text)
    {
      bool isInString = false;

      for (std::size_t i = 0; i < text.size(); i++)
      {
        if (text[i] == '/' && !isInString)
        {
          return true;
        }

        isInString = isInString != (text[i] == '"');
        i += text[i] == '\\' ? 1 : 0;  // and what is escaped
      }

      return false;
    }

    std::unique_ptr<Json::CharReader> MakeReader()
    {
      Json::CharReaderBuilder builder;
      Json::CharReaderBuilder::strictMode(&builder.settings_);
      builder["stackLimit"] = MAXIMUM_JSON_DEPTH;
      return std::unique_ptr<Json::CharReader>(builder.newCharReader());
    }
  }

  SettingError SettingError::ForValue(const std::string& key, const Json::Value& found,
                                      const std::string& allowed)
  {
    const std::string description = Describe(found);
    return SettingError((key.empty() ? std::string("The document") : key) + " is " + description +
                            "; allowed: " + allowed,
                        key, description, allowed);
  }

  SettingError SettingError::ForUnknownKey(const std::string& key, const Json::Value& found,
                                           const std::vector<std::string>& known)
  {
    const std::string shown = DescribeText(key);
    return SettingError("Unknown key \"" + shown + "\"", shown, Describe(found),
                        boost::algorithm::join(known, ", "));
  }

  SettingError::SettingError(const std::string& message, std::string key, std::string found,
                             std::string allowed) :
    std::runtime_error(message),
    key(std::move(key)),
    found(std::move(found)),
    allowed(std::move(allowed))
  {
  }

  Json::Value SettingError::ToJson() const
  {
    Json::Value json(Json::objectValue);
    json["Key"] = key;
    json["Found"] = found;
    json["Allowed"] = allowed;
    return json;
  }

  std::string Describe(const Json::Value& value)
  {
    return DescribeText(ToText(value));
  }

  std::string DescribeText(const std::string& text)
  {
    std::string description = text.substr(0, MAXIMUM_DESCRIPTION);

    for (char& c : description)
    {
      if (c < 0x20 || c > 0x7e)
      {
        c = '?';
      }
    }

    return text.size() > MAXIMUM_DESCRIPTION ? description + "..." : description;
  }

  Json::Value ParseJson(const void* body, std::size_t size)
  {
    // JsonCpp takes a zero byte for the end
    if (size == 0 || body == nullptr || std::memchr(body, 0, size) != nullptr)
    {
      throw MakeError("it is empty, or has a zero byte");
    }

    if (size > MAXIMUM_JSON_SIZE)
    {
      throw MakeError("it has " + std::to_string(size) + " bytes");
    }

    const char* const text = static_cast<const char*>(body);

    if (HasComment({text, size}))
    {
      throw MakeError("it has a comment");
    }

    Json::Value value;
    std::string errors;

    try
    {
      if (MakeReader()->parse(text, text + size, &value, &errors))
      {
        return value;
      }
    }
    catch (const Json::Exception& e)  // nested too deep
    {
      throw MakeError(ToOneLine(e.what()));
    }

    throw MakeError(ToOneLine(errors));
  }

  Json::Value ReadJson(std::string_view text)
  {
    const std::unique_ptr<Json::CharReader> reader(Json::CharReaderBuilder().newCharReader());
    Json::Value value;
    std::string errors;

    if (!reader->parse(text.data(), text.data() + text.size(), &value, &errors))
    {
      throw std::runtime_error("not JSON: " + errors);
    }

    return value;
  }

  std::string ToText(const Json::Value& value)
  {
    Json::StreamWriterBuilder builder;
    builder["indentation"] = "";
    return Json::writeString(builder, value);
  }

  Json::Value MergeJson(const Json::Value& target, const Json::Value& patch)
  {
    if (!patch.isObject())
    {
      return patch;
    }

    Json::Value merged = target.isObject() ? target : Json::Value(Json::objectValue);

    for (const std::string& name : patch.getMemberNames())
    {
      if (patch[name].isNull())
      {
        merged.removeMember(name);
      }
      else
      {
        merged[name] = MergeJson(merged[name], patch[name]);
      }
    }

    return merged;
  }

  Json::Value DiffJson(const Json::Value& before, const Json::Value& after)
  {
    Json::Value patch = Json::objectValue;

    for (const std::string& name : before.getMemberNames())
    {
      if (!after.isMember(name))
      {
        patch[name] = Json::nullValue;
      }
    }

    for (const std::string& name : after.getMemberNames())
    {
      if (before[name] != after[name])
      {
        const bool areObjects = before[name].isObject() && after[name].isObject();
        patch[name] = areObjects ? DiffJson(before[name], after[name]) : after[name];
      }
    }

    return patch;
  }
}
