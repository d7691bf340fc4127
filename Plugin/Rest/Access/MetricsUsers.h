// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/RestMessage.h"

#include <string>
#include <vector>

namespace OrthancPerf
{
  // The users that may read metrics, and nothing else in all of Orthanc: "MetricsUsers" in the
  // configuration. No plugin can open a route of an Orthanc that asks for a password; but it can
  // close all the others to a user whose password stands in a scraper's configuration. Owned by the
  // plugin's context; constant, any thread.
  class MetricsUsers
  {
  public:
    explicit MetricsUsers(std::vector<std::string> users);

    bool AreThere() const
    {
      return !users_.empty();
    }

    // Whether the request may go on: it does not name one of these users, whatever the password,
    // or it is a GET of /perf/metrics, /perf/health or of Orthanc's own metrics. "path": as Orthanc
    // has it.
    bool Allow(HttpMethod method, const std::string& path, const std::string& authorization) const;

  private:
    const std::vector<std::string> users_;
  };
}
