// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/RestMessage.h"

#include <cstdint>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // A name or a value of a query string without its escapes: "CT%20ROOM" and "CT+ROOM" are "CT
  // ROOM", as for civetweb (WHATWG URL Standard, section 5.1); what is no escape stays as it is
  std::string DecodeQuery(const std::string& text);

  // The argument of the query string; nothing if the request does not have it
  std::optional<std::string> GetArgument(const RestRequest& request, const std::string& name);

  // The same as an integer from 0 to "maximum". Throws SettingError if it is none.
  std::optional<std::uint64_t> GetInteger(const RestRequest& request, const std::string& name,
                                          std::uint64_t maximum);

  // Whether the argument is there, alone or as "true". Throws SettingError if it is anything
  // but that or "false".
  bool GetFlag(const RestRequest& request, const std::string& name);
}
