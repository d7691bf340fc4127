// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/Exposition.h"
#include "Rest/RestRouter.h"

namespace OrthancPerf
{
  // GET /perf/metrics: Prometheus' text format, or the same as JSON for "Accept:
  // application/json". The exposition must outlive the router.
  void RegisterMetricsResource(RestRouter& router, const Exposition& exposition);
}
