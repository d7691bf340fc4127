// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Tuning/Json.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace OrthancPerf
{
  inline Json::Value Parse(const std::string& text)
  {
    return ParseJson(text.data(), text.size());
  }

  // The error that the call throws
  template <typename Call>
  SettingError CatchError(Call call)
  {
    try
    {
      call();
    }
    catch (const SettingError& e)
    {
      return e;
    }

    ADD_FAILURE() << "no SettingError was thrown";
    return SettingError("", "", "", "");
  }

  // Values that no key of any document takes
  inline std::vector<Json::Value> GetValuesThatNoKeyTakes()
  {
    const Json::Value json = Parse(
        R"([{}, [], [true], [60], ["auto"], {"a": 1}, -1, 0.5, 1e300, -1e300, 9007199254740993.0,
            9223372036854775807, -9223372036854775808, 18446744073709551615, 4503599627370496.0,
            "No Such Value", "true!", " auto", "AUTO", "-1", "a'; DROP TABLE x; --"])");
    std::vector<Json::Value> values(json.begin(), json.end());
    values.emplace_back(std::numeric_limits<double>::infinity());
    values.emplace_back(std::numeric_limits<double>::quiet_NaN());
    values.emplace_back(std::string("auto\0", 5));
    values.emplace_back("\xff\xfe");
    values.emplace_back(std::string(100000, 'a'));
    return values;
  }
}
