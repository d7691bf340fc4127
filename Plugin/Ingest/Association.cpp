// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/Association.h"

#include <array>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::array<const char*, ASSOCIATION_OUTCOME_COUNT> LABELS = {
        "released", "rejected", "aborted",     "lost",       "incomplete", "encrypted",
        "refused",  "timeout",  "unreachable", "unresolved", "tls"};
  }


  const char* ToLabel(AssociationOutcome outcome)
  {
    return LABELS.at(static_cast<std::size_t>(outcome));
  }
}
