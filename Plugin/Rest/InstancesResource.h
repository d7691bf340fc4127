// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/RecentInstances.h"
#include "Rest/RestRouter.h"

#include <functional>
#include <string>

namespace OrthancPerf
{
  // Orthanc's identifier of the instance with this SOP Instance UID, empty if the store does not
  // hold it
  using LookUpInstance = std::function<std::string(const char* sopInstanceUid)>;

  // GET /perf/instances?limit=&peer=&origin=&direction=: the latest finished instances, newest
  // first. The instances must outlive the router. The store is asked for the identifiers of
  // instances that were sent when somebody looks at them, not when they are sent.
  void RegisterInstancesResource(RestRouter& router, const RecentInstances& instances,
                                 const LookUpInstance& lookUp);
}
