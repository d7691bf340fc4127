// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/SettingError.h"

#include "Tuning/Json.h"

#include <boost/algorithm/string/join.hpp>

#include <utility>

namespace OrthancPerf
{
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
}
