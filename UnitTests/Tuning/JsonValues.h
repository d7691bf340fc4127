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
    return {Json::Value(Json::objectValue),
            Json::Value(Json::arrayValue),
            Parse("[true]"),
            Parse("[60]"),
            Parse("[\"auto\"]"),
            Parse("{\"a\": 1}"),
            Json::Value(-1),
            Json::Value(0.5),
            Json::Value(1e300),
            Json::Value(-1e300),
            Json::Value(9007199254740993.0),
            Json::Value(std::numeric_limits<Json::Int64>::max()),
            Json::Value(std::numeric_limits<Json::Int64>::min()),
            Json::Value(std::numeric_limits<Json::UInt64>::max()),
            Json::Value(4503599627370496.0),
            Json::Value(std::numeric_limits<double>::infinity()),
            Json::Value(std::numeric_limits<double>::quiet_NaN()),
            Json::Value("No Such Value"),
            Json::Value("true!"),
            Json::Value(" auto"),
            Json::Value("AUTO"),
            Json::Value("-1"),
            Json::Value("a'; DROP TABLE x; --"),
            Json::Value(std::string("auto\0", 5)),
            Json::Value("\xff\xfe"),
            Json::Value(std::string(100000, 'a'))};
  }
}
