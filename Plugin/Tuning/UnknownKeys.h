// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <string>
#include <vector>

namespace OrthancPerf
{
  // What becomes of keys that nobody knows: in a request they are an error, in a configuration,
  // which may have been written for another version, a warning. Used by one thread at a time.
  class UnknownKeys
  {
  public:
    // "known" are the paths that the document may have; they end each message
    explicit UnknownKeys(std::vector<std::string> known);

    // From now on, unknown keys are warnings
    void CollectWarningsIn(std::vector<std::string>& warnings);

    // Called for each unknown key that was found in the object at "path" (empty: the document).
    // Throws SettingError unless warnings are collected.
    void Report(const std::string& path, const std::string& name, const Json::Value& value) const;

  private:
    std::vector<std::string> known_;
    std::vector<std::string>* warnings_ = nullptr;
  };


  // "limit, peer"
  std::string JoinNames(const std::vector<std::string>& names);

  // "Perf" and "Enabled" give "Perf.Enabled"; an empty path gives the name alone
  std::string JoinPath(const std::string& path, const std::string& name);
}
