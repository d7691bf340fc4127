// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/PeerStatistics.h"
#include "Rest/RestRouter.h"

namespace OrthancPerf
{
  // GET /perf/peers: each peer, what went between it and Orthanc, its associations and their TCP
  // connections. The statistics must outlive the router.
  void RegisterPeersResource(RestRouter& router, const PeerStatistics& peers);
}
