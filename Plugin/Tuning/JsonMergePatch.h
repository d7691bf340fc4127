// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

namespace OrthancPerf
{
  // JSON Merge Patch (RFC 7396 section 2): objects are merged member by member, null removes a
  // member, anything else replaces what was there. Recursive in the patch, whose depth ParseJson
  // bounds.
  Json::Value MergeJson(const Json::Value& target, const Json::Value& patch);

  // The smallest patch that makes the one object of the other, an empty object if they are equal.
  // Members must not be null: a patch cannot express that.
  Json::Value DiffJson(const Json::Value& before, const Json::Value& after);
}
