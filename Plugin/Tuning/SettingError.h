// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <stdexcept>
#include <string>
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
}
