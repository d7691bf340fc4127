// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace OrthancPerf
{
  // A configuration or a tuning document that cannot be accepted: which key, what was found there,
  // and what is allowed. The REST API answers 400 with what() and ToJson(), the start of Orthanc
  // fails with the one line of what(). All in it is printable and short, whatever the input was.
  class SettingError : public std::runtime_error
  {
  public:
    // The error that a key has a value which is not allowed
    static SettingError ForValue(const std::string& key, const Json::Value& found,
                                 const std::string& allowed);

    // The error that there is no such key; "known" are those there are
    static SettingError ForUnknownKey(const std::string& key, const Json::Value& found,
                                      const std::vector<std::string>& known);

    // "message" is the whole story in one sentence; an empty key means the document itself
    SettingError(const std::string& message, std::string key, std::string found,
                 std::string allowed);

    // {"Key", "Found", "Allowed"}, all of them strings
    Json::Value ToJson() const;

    const std::string key;    // its path, such as "DicomSockets.ReceiveBuffer"
    const std::string found;  // as JSON, cut at MAXIMUM_DESCRIPTION
    const std::string allowed;
  };

  // At most this many characters of a wrong value are repeated in an answer or in the log
  constexpr std::size_t MAXIMUM_DESCRIPTION = 120;

  // The value as one line of JSON in printable ASCII, cut at MAXIMUM_DESCRIPTION
  std::string Describe(const Json::Value& value);

  // The same for text that is not JSON: control and non-ASCII characters become "?"
  std::string DescribeText(const std::string& text);

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
