// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/RestRouter.h"
#include "Tuning/TuningChanges.h"
#include "Tuning/TuningStore.h"

#include <functional>

namespace OrthancPerf
{
  // What the resource needs. The references outlive the router.
  struct TuningResourceSources
  {
    TuningStore& store;
    TuningChanges& changes;                        // learns of each change, and who asked for it
    Json::Value configuration;                     // the tuning document of the configuration
    bool isAllowed;                                // "AllowTuning": PUT and DELETE
    std::function<void(const std::string&)> warn;  // of what could not be saved
  };

  // GET, PUT and DELETE /perf/tuning: the tuning document in force. PUT merges (RFC 7396), DELETE
  // returns to the configuration; both answer with the document that is then in force, or with
  // 403 where they are not allowed. What could not be saved is in force all the same. GET with
  // "sources" says where each value comes from.
  void RegisterTuningResource(RestRouter& router, const TuningResourceSources& sources);
}
