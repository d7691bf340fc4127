// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/RecentInstances.h"
#include "Rest/RestRouter.h"

namespace OrthancPerf
{
  // GET /perf/instances?limit=&peer=&origin=&direction=&outcome=: the latest finished instances,
  // newest first; GET /perf/instances/{id}: one of them. The instances must outlive the router.
  void RegisterInstancesResource(RestRouter& router, const RecentInstances& instances);
}
