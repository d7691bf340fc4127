// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/DashboardFile.h"
#include "Rest/RestRouter.h"

namespace OrthancPerf
{
  // GET /perf: the dashboard for a browser ("Accept: text/html"), for all others the routes as
  // JSON; and GET /perf/app/…, the files that the dashboard loads. A Content-Security-Policy keeps
  // the page from loading or sending anything elsewhere. To be registered last, as the routes are
  // listed when they are asked for. The router must outlive its own handlers.
  void RegisterDashboardResource(RestRouter& router, const std::vector<DashboardFile>& files);
}
