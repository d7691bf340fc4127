// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <algorithm>
#include <mutex>
#include <string>

namespace OrthancPerf
{
  // How the plugin itself is doing, as /perf/status shows it: what it could hook, what it had to
  // warn of, what failed in it. Owned by the plugin's context; any thread may call it. Memory is
  // bounded: the callbacks have fixed names, and warnings that repeat are kept once, a hundred at
  // the most.
  class PluginState
  {
  public:
    // A hook by its name; the reason says why it could not be installed
    void SetHook(const std::string& hook, bool isInstalled, const std::string& reason = {})
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      Json::Value& state = state_["Hooks"][hook];
      state = Json::objectValue;
      state["Installed"] = isInstalled;

      if (!reason.empty())
      {
        state["Reason"] = reason;
      }
    }

    void AddWarning(const std::string& warning)
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      Json::Value& warnings = state_["Warnings"];

      if (warnings.size() < MAXIMUM_WARNINGS &&
          std::find(warnings.begin(), warnings.end(), Json::Value(warning)) == warnings.end())
      {
        warnings.append(warning);
      }
    }

    // An exception that a callback of Orthanc's ended with, and that stayed in the plugin. True
    // for the first failure of this callback.
    bool AddFailure(const std::string& callback)
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      Json::Value& count = state_["CallbackFailures"][callback];
      count = count.asUInt64() + 1;
      return count == 1;
    }

    Json::Value Get() const
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      return state_;
    }

  private:
    static constexpr Json::ArrayIndex MAXIMUM_WARNINGS = 100;

    static Json::Value MakeEmpty()
    {
      Json::Value state;
      state["Hooks"] = Json::objectValue;
      state["CallbackFailures"] = Json::objectValue;
      state["Warnings"] = Json::arrayValue;
      return state;
    }

    mutable std::mutex mutex_;
    Json::Value state_ = MakeEmpty();
  };
}
