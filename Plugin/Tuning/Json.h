// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // What a request's body may be at most; a whole tuning document takes less than 1 kB
  constexpr std::size_t MAXIMUM_JSON_SIZE = std::size_t{1024} * 1024;
  constexpr unsigned int MAXIMUM_JSON_DEPTH = 32;

  // Reads the JSON body of a request, by the letter of RFC 8259: no comments, nothing after the
  // document, no key twice in an object; the root is an object or an array. Throws SettingError
  // (whose key is empty) on anything else, and on bodies beyond the two limits. Any thread.
  Json::Value ParseJson(const void* body, std::size_t size);

  // JSON that Orthanc or this project has written. Throws std::runtime_error.
  Json::Value ReadJson(std::string_view text);

  // In one line of ASCII
  std::string ToText(const Json::Value& value);

  // JSON Merge Patch (RFC 7396 section 2): objects are merged member by member, null removes a
  // member, anything else replaces what was there. Recursive in the patch, whose depth ParseJson
  // bounds.
  Json::Value MergeJson(const Json::Value& target, const Json::Value& patch);

  // The smallest patch that makes the one object of the other, an empty object if they are equal.
  // Members must not be null: a patch cannot express that.
  Json::Value DiffJson(const Json::Value& before, const Json::Value& after);
}
