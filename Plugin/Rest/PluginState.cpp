// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/PluginState.h"

#include "Rest/RestJson.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t MAXIMUM_WARNINGS = 100;
  }


  void PluginState::SetHook(const std::string& hook, bool isInstalled, const std::string& reason)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    hooks_[hook] = Hook{isInstalled, reason};
  }


  void PluginState::AddWarning(const std::string& warning)
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (warnings_.size() < MAXIMUM_WARNINGS &&
        std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end())
    {
      warnings_.push_back(warning);
    }
  }


  bool PluginState::AddFailure(const std::string& callback)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return ++failures_[callback] == 1;
  }


  Json::Value PluginState::DescribeHooks() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Json::Value json = Json::objectValue;

    for (const auto& [name, hook] : hooks_)
    {
      json[name]["Installed"] = hook.isInstalled;
      AddText(json[name], "Reason", hook.reason);
    }

    return json;
  }


  Json::Value PluginState::DescribeFailures() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Json::Value json = Json::objectValue;

    for (const auto& [callback, count] : failures_)
    {
      json[callback] = static_cast<Json::UInt64>(count);
    }

    return json;
  }


  Json::Value PluginState::DescribeWarnings() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return ListJson(warnings_, [](const std::string& warning) { return warning; });
  }
}
