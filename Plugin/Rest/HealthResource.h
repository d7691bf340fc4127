// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/HealthWatch.h"
#include "Rest/RestRouter.h"

namespace OrthancPerf
{
  // GET /perf/health, for load balancers: 200 while the database and the disk of the images
  // answer, else 503, and why. The watch must outlive the router.
  void RegisterHealthResource(RestRouter& router, HealthWatch& watch);
}
