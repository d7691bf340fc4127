// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <cstddef>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // The number of characters to insert, delete or replace to get from one text to the other
  // (Levenshtein's distance), upper and lower case being the same. Only the first
  // MAXIMUM_COMPARED characters count: the texts come from strangers.
  std::size_t GetEditDistance(const std::string& a, const std::string& b);

  constexpr std::size_t MAXIMUM_COMPARED = 64;

  // The path among the known ones that the name most likely meant: the name is compared with each
  // path ("DicomSockets.TcpNoDelay") and with its last part ("TcpNoDelay"). The first one wins
  // among equals. There must be at least one path.
  const std::string& FindNearestPath(const std::string& name,
                                     const std::vector<std::string>& paths);

  // To be called for each unknown key that was found in the object at "path" (empty: the document),
  // where "known" are the paths that the document may have. In a request it is an error: throws
  // SettingError. In a configuration, which may have been written for another version, it is one of
  // the "warnings".
  void ReportUnknownKey(const std::vector<std::string>& known, const std::string& path,
                        const std::string& name, const Json::Value& value,
                        std::vector<std::string>* warnings = nullptr);

  // "Perf" and "Enable" give "Perf.Enable"; an empty path gives the name alone
  std::string JoinPath(const std::string& path, const std::string& name);
}
