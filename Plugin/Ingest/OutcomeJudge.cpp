// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/OutcomeJudge.h"

namespace OrthancPerf
{
  Verdict JudgeOutcome(const IngestEvidence& evidence, bool hasOtherFilters)
  {
    if (*evidence.problem != '\0')
    {
      return {Outcome::Failed, false, evidence.problem};
    }

    if (evidence.filterReached)
    {
      if (evidence.origin == Origin::DicomProtocol && !evidence.cstoreFilterReached)
      {
        return {Outcome::Discarded, false, "refused by another plugin's C-STORE filter"};
      }

      return {Outcome::Failed, false, "storage full, or storage or database failed"};
    }

    if (hasOtherFilters)
    {
      return {Outcome::Discarded, true, "refused by a filter of Lua's or of another plugin's"};
    }

    return {Outcome::Failed, true, "Orthanc did not take it"};
  }
}
