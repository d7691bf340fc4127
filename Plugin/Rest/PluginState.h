// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // How the plugin itself is doing: what it could hook, what it had to warn of, what failed in
  // it. Owned by the plugin's context; any thread may call it. Memory is bounded: the callbacks
  // have fixed names, and warnings that repeat are kept once, a hundred at the most.
  class PluginState
  {
  public:
    // A hook by its name in /perf/status; the reason says why it could not be installed
    void SetHook(const std::string& hook, bool isInstalled, const std::string& reason = {});

    // A line that the log has too
    void AddWarning(const std::string& warning);

    // An exception that a callback of Orthanc's ended with, and that stayed in the plugin. True
    // for the first failure of this callback.
    bool AddFailure(const std::string& callback);

    Json::Value DescribeHooks() const;
    Json::Value DescribeFailures() const;
    Json::Value DescribeWarnings() const;

  private:
    struct Hook
    {
      bool isInstalled;
      std::string reason;
    };

    mutable std::mutex mutex_;
    std::map<std::string, Hook> hooks_;
    std::map<std::string, std::uint64_t> failures_;
    std::vector<std::string> warnings_;
  };
}
