// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/JsonMergePatch.h"

#include <string>

namespace OrthancPerf
{
  Json::Value MergeJson(const Json::Value& target, const Json::Value& patch)
  {
    if (!patch.isObject())
    {
      return patch;
    }

    Json::Value merged = target.isObject() ? target : Json::Value(Json::objectValue);

    for (const std::string& name : patch.getMemberNames())
    {
      if (patch[name].isNull())
      {
        merged.removeMember(name);
      }
      else
      {
        merged[name] = MergeJson(merged[name], patch[name]);
      }
    }

    return merged;
  }
}
