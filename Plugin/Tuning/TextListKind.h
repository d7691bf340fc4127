// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <string>
#include <vector>

namespace OrthancPerf
{
  // A list of texts of one sort, possibly empty (see SettingKey.h)
  struct TextListKind
  {
    static constexpr const char* TYPE = "list";

    const char* allowed;
    std::string (*normalize)(const std::string& text);  // gives nothing for what is not allowed

    std::string GetAllowed() const
    {
      return allowed;
    }

    bool Read(const Json::Value& value, std::vector<std::string>& place) const
    {
      std::vector<std::string> texts;

      for (const Json::Value& item : value.isArray() ? value : Json::Value(Json::arrayValue))
      {
        texts.push_back(item.isString() ? normalize(item.asString()) : "");

        if (texts.back().empty())
        {
          return false;
        }
      }

      if (value.isArray())
      {
        place = texts;
      }

      return value.isArray();
    }

    static Json::Value Write(const std::vector<std::string>& texts)
    {
      Json::Value json(Json::arrayValue);

      for (const std::string& text : texts)
      {
        json.append(text);
      }

      return json;
    }
  };


  // Names of Orthanc's users, which have no colon (RFC 7617 section 2)
  TextListKind MakeUsersKind();

  // IP addresses, as NormalizeIpAddress writes them
  TextListKind MakeIpAddressesKind();

  // The address (IPv4 or IPv6) as the operating system writes it, "::1" for "0:0::1"; empty if the
  // text is none. Any thread.
  std::string NormalizeIpAddress(const std::string& text);
}
