// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Access/MetricsUsers.h"

#include "Rest/Access/BasicCredentials.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  MetricsUsers::MetricsUsers(std::vector<std::string> users) : users_(std::move(users))
  {
  }


  bool MetricsUsers::Allow(HttpMethod method, const std::string& path,
                           const std::string& authorization) const
  {
    const std::string user = ReadBasicCredentials(authorization).user;
    const bool isLimited = std::find(users_.begin(), users_.end(), user) != users_.end();
    const bool isTheirs =
        path == "/perf/metrics" || path == "/perf/health" || path == "/tools/metrics-prometheus";
    return !isLimited || (method == HttpMethod::Get && isTheirs);
  }
}
