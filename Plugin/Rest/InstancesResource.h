// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/RecentInstances.h"
#include "Ingest/SentIdentifiers.h"
#include "Rest/RestRouter.h"

namespace OrthancPerf
{
  // GET /perf/instances?limit=&peer=&origin=&direction=: the latest finished instances, newest
  // first. Instances and identifiers must outlive the router.
  void RegisterInstancesResource(RestRouter& router, const RecentInstances& instances,
                                 SentIdentifiers& identifiers);
}
