// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>
#include <vector>

namespace OrthancPerf
{
  // A file of the dashboard, as it was embedded in the library when that was built. A value; what
  // it refers to lives as long as the library.
  struct DashboardFile
  {
    std::string_view name;  // "app.js"
    std::string_view contentType;
    std::string_view content;
    std::string_view tag;  // changes with the content
  };

  // The files that WebApp/embed.mjs has embedded, "index.html" among them; none if the library was
  // built without the dashboard (Resources/CMake/NoDashboard.cpp)
  std::vector<DashboardFile> GetDashboardFiles();
}
