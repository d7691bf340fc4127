// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/Association.h"

namespace OrthancPerf
{
  namespace
  {
    constexpr std::array<const char*, ASSOCIATION_OUTCOME_COUNT> LABELS = {
        "released", "rejected", "aborted", "lost", "incomplete", "encrypted"};
  }


  const std::array<AssociationOutcome, ASSOCIATION_OUTCOME_COUNT>& GetAllAssociationOutcomes()
  {
    static const std::array<AssociationOutcome, ASSOCIATION_OUTCOME_COUNT> ALL = {
        AssociationOutcome::Released,   AssociationOutcome::Rejected,
        AssociationOutcome::Aborted,    AssociationOutcome::Lost,
        AssociationOutcome::Incomplete, AssociationOutcome::Encrypted};
    return ALL;
  }


  const char* ToLabel(AssociationOutcome outcome)
  {
    return LABELS.at(static_cast<std::size_t>(outcome));
  }
}
