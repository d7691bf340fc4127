// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/InstanceInFlight.h"

#include <orthanc/OrthancCPlugin.h>

namespace OrthancPerf
{
  Origin ToOrigin(OrthancPluginInstanceOrigin origin);

  // What Orthanc knows of an instance in its filters: origin, size, and for C-STORE the calling
  // application entity. Call on the thread of the callback only.
  KnownInstance DescribeInstance(OrthancPluginContext* context,
                                 const OrthancPluginDicomInstance* instance);

  // The same in the stored callback, where the identifier and the peer's address are known too
  KnownInstance DescribeStoredInstance(OrthancPluginContext* context,
                                       const OrthancPluginDicomInstance* instance,
                                       const char* instanceId);
}
