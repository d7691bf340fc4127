// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/OutcomeJudge.h"

namespace OrthancPerf
{
  Verdict JudgeOutcome(const IngestEvidence& evidence, const OtherFilters& others)
  {
    if (*evidence.problem != '\0')
    {
      return {Outcome::Failed, false, evidence.problem};
    }

    if (evidence.filterReached)
    {
      if (evidence.origin != Origin::DicomProtocol || evidence.cstoreFilterReached)
      {
        return {Outcome::Failed, false, "storage full, or storage or database failed"};
      }

      if (others.acceptCStore)
      {
        return {Outcome::Failed, false,
                "storage or database failed, or another plugin's C-STORE filter refused it"};
      }

      return {Outcome::Discarded, false, "refused by another plugin's C-STORE filter"};
    }

    if (others.mayRefuse)
    {
      return {Outcome::Discarded, true, "refused by a filter of Lua's or of another plugin's"};
    }

    return {Outcome::Failed, true, "Orthanc did not take it"};
  }
}
