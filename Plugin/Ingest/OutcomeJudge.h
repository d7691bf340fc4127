// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/FinishedInstance.h"

namespace OrthancPerf
{
  // What was seen of an instance before it went out of sight without its stored callback
  struct IngestEvidence
  {
    Origin origin = Origin::Unknown;

    // Why Orthanc cannot read the file or does not find the identifiers that it needs; empty: it
    // can. Never freed.
    const char* problem = "";

    // The incoming-instance filter was reached: Lua and the plugins before ours accepted
    bool filterReached = false;

    // The C-STORE filter was reached: no other plugin has one
    bool cstoreFilterReached = false;
  };

  struct Verdict
  {
    Outcome outcome;

    // If it is found in the store, the outcome is "stored": from 1.13.0 on, Orthanc asks its
    // database for an instance that it may already hold before it asks any filter
    bool mayBeInStore;

    const char* reason;  // for people, one of few; never freed
  };

  struct OtherFilters
  {
    // Lua scripts or other plugins are loaded, which may refuse instances
    bool mayRefuse = false;

    // Another plugin's C-STORE filter has accepted an instance
    bool acceptCStore = false;
  };

  // Tells a discarded instance from a failed one. Our filters are the last to be asked (they are
  // registered once all plugins are there), so an instance that passed them failed in the storage
  // or the database; one that did not, and is readable, was refused by a filter before ours,
  // provided that there is one. But Orthanc asks no further C-STORE filter once one has accepted:
  // what never reached ours, where another plugin has one, may have been accepted and failed.
  Verdict JudgeOutcome(const IngestEvidence& evidence, const OtherFilters& others);
}
