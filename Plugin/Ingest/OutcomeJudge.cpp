// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/OutcomeJudge.h"

namespace OrthancPerf
{
  OutcomeJudge::OutcomeJudge(bool hasOtherFilters) : hasOtherFilters_(hasOtherFilters)
  {
  }

  Verdict OutcomeJudge::Judge(const IngestEvidence& evidence) const
  {
    if (!evidence.readable)
    {
      return {Outcome::Failed, false};
    }

    if (evidence.filterReached)
    {
      const bool refusedByCStoreFilter =
          evidence.origin == Origin::DicomProtocol && !evidence.cstoreFilterReached;
      return {refusedByCStoreFilter ? Outcome::Discarded : Outcome::Failed, false};
    }

    return {hasOtherFilters_ ? Outcome::Discarded : Outcome::Failed, true};
  }
}
