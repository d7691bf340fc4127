// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace OrthancPerf
{
  // What a request says of its user, which anybody can say. A value.
  struct BasicCredentials
  {
    std::string user;  // empty: none
    std::string password;
  };

  // Of the header "Authorization" in the scheme "Basic" (RFC 7617); of other ones, nothing
  BasicCredentials ReadBasicCredentials(const std::string& authorization);
}
