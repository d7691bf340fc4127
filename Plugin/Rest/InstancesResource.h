// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/RecentInstances.h"
#include "Rest/RestRouter.h"

namespace OrthancPerf
{
  // GET /perf/instances?limit=&peer=&origin=&direction=: the latest finished instances, newest
  // first. The instances must outlive the router.
  void RegisterInstancesResource(RestRouter& router, const RecentInstances& instances);
}
