// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace OrthancPerf
{
  // The user that a header "Authorization" names in the scheme "Basic" (RFC 7617), printable and
  // cut as DescribeText does; empty if it names none. The password is not looked at. Any thread.
  std::string GetBasicUser(const std::string& authorization);
}
