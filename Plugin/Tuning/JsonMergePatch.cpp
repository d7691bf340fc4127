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


  Json::Value DiffJson(const Json::Value& before, const Json::Value& after)
  {
    Json::Value patch = Json::objectValue;

    for (const std::string& name : before.getMemberNames())
    {
      if (!after.isMember(name))
      {
        patch[name] = Json::nullValue;
      }
    }

    for (const std::string& name : after.getMemberNames())
    {
      if (before[name] != after[name])
      {
        const bool areObjects = before[name].isObject() && after[name].isObject();
        patch[name] = areObjects ? DiffJson(before[name], after[name]) : after[name];
      }
    }

    return patch;
  }
}
