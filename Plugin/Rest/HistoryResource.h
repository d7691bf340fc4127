// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Metrics/History.h"
#include "Rest/RestRouter.h"
#include "Tuning/TuningChanges.h"

namespace OrthancPerf
{
  // GET /perf/history: what charts show, the last hour by the second or the last day by the
  // minute, and when the tuning was changed. Both must outlive the router.
  void RegisterHistoryResource(RestRouter& router, History& history, const TuningChanges& changes);
}
