// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/RestRouter.h"
#include "Tuning/TuningStore.h"

#include <functional>

namespace OrthancPerf
{
  // GET, PUT and DELETE /perf/tuning: the tuning document in force. PUT merges (RFC 7396), DELETE
  // returns to the configuration; both answer with the document that is then in force, or with
  // 403 unless allowed ("AllowTuning"). What could not be saved is in force all the same, and
  // goes to "warn". Store and function must outlive the router.
  void RegisterTuningResource(RestRouter& router, TuningStore& store, bool isAllowed,
                              const std::function<void(const std::string&)>& warn);
}
