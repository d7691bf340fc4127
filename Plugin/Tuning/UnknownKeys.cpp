// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/UnknownKeys.h"

#include "Tuning/NearestName.h"
#include "Tuning/SettingError.h"

#include <utility>

namespace OrthancPerf
{
  UnknownKeys::UnknownKeys(std::vector<std::string> known) : known_(std::move(known))
  {
  }


  void UnknownKeys::CollectWarningsIn(std::vector<std::string>& warnings)
  {
    warnings_ = &warnings;
  }


  void UnknownKeys::Report(const std::string& path, const std::string& name,
                           const Json::Value& value) const
  {
    const std::string key = DescribeText(JoinPath(path, name));
    const std::string nearest = FindNearestPath(name, known_);

    if (warnings_ == nullptr)
    {
      throw SettingError("Unknown key \"" + key + "\", did you mean \"" + nearest + "\"?", key,
                         Describe(value), JoinNames(known_));
    }

    warnings_->push_back("Unknown key \"" + key + "\" is ignored, did you mean \"" + nearest +
                         "\"?");
  }


  std::string JoinNames(const std::vector<std::string>& names)
  {
    std::string joined;

    for (const std::string& name : names)
    {
      joined += (joined.empty() ? "" : ", ") + name;
    }

    return joined;
  }


  std::string JoinPath(const std::string& path, const std::string& name)
  {
    return path.empty() ? name : path + "." + name;
  }
}
