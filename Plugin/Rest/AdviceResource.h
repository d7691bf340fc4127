// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Advisor.h"
#include "Rest/RestRouter.h"

namespace OrthancPerf
{
  // GET /perf/advice: all findings, the most costly first; GET /perf/advice/history: those of the
  // last day, with begin and end. The advisor must outlive the router.
  void RegisterAdviceResource(RestRouter& router, Advisor& advisor);
}
